import { dump } from 'js-yaml';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectOf,
  putValue,
  textOf,
  textsOf,
} from '#shared/docs/project/json-values.ts';
import { isClosed } from '../closed-parts.ts';
import { resolved } from '../open-slice.ts';
import { removeHiddenParts } from '../hidden-parts.ts';
import { escapedPointerPart, methods, pathItemOf } from '../operations.ts';
import { readWritten, SpecificationRefused } from '../parse-specification.ts';
import { maxSpecificationBytes } from '../specification-limits.ts';
import { mayRestrict, unreadDescription } from './unread-description.ts';

/**
 * Readers of an API description: the requested groups, and the names (as of slices) of operations, schemas and channels that have only pages that are
 * left out.
 */
export type DescriptionReaders = { groups: readonly string[]; leftOut: readonly string[] };

/**
 * The file of an API description for a bundle: without operations, webhooks and channels that are excluded (`x-excluded`) or belong to groups that
 * were not requested, without hidden parts of others, and without parts that only those refer to. Undefined if the file can be used unchanged,
 * because it has none of these. A file that cannot be read has no pages, and becomes an empty object if it may have such parts.
 */
export function publishedDescription(
  bytes: Uint8Array,
  file: string,
  readers: DescriptionReaders,
): Uint8Array | undefined {
  const unread = (): Uint8Array | undefined => (mayRestrict(bytes) ? unreadDescription : undefined);
  if (bytes.byteLength > maxSpecificationBytes) return unread();
  let document: JsonValue;
  try {
    document = readWritten(bytes, file);
  } catch (error) {
    if (error instanceof SpecificationRefused) return unread();
    throw error;
  }
  if (!isJsonObject(document)) return undefined;
  const { removed, pointers } = removeParts(document, readers);
  const schemas = objectOf(objectOf(document['components'])['schemas']);
  const leftOut = readers.leftOut.filter((name) => Object.hasOwn(schemas, name));
  if (removed.length + leftOut.length === 0) return undefined;
  removeComponents(document, removed, leftOut);
  removeTags(document, removed);
  removeReferences(document, new Set(removed.flatMap(({ operationId }) => textsOf(operationId))), pointers);
  return Buffer.from(file.toLowerCase().endsWith('.json') ? jsonText(document) : dump(document, { noRefs: true }));
}

const jsonText = (document: JsonObject): string => `${JSON.stringify(document, null, 2)}\n`;

/** Removed operations, channels and hidden parts, with the references to them; and JSON pointers to their places in the file. */
type Removed = { removed: JsonObject[]; pointers: Set<string> };

/** Removes restricted operations and channels, and parts of others that are hidden. */
function removeParts(document: JsonObject, { groups, leftOut }: DescriptionReaders): Removed {
  const names = new Set(leftOut);
  const hidden = removeHiddenParts(document);
  const removed = [...hidden.removed];
  const pointers = new Set(hidden.pointers);
  const prune = (paths: JsonObject, place: string, isLeftOut: (method: string, path: string) => boolean): void => {
    for (const [path, item] of Object.entries(paths)) {
      const whole = pathItemOf(document, item);
      const there = methods.filter((method) => isJsonObject(whole[method]));
      const gone = there.filter(
        (method) => isClosed(whole, groups) || isClosed(objectOf(whole[method]), groups) || isLeftOut(method, path),
      );
      if (gone.length === 0) continue;
      removed.push(...gone.map((method) => objectOf(whole[method])));
      for (const method of gone) pointers.add(`${place}${escapedPointerPart(path)}/${method}`);
      // A path may be a reference to an item that others refer to.
      const { $ref: reference } = objectOf(item);
      if (reference !== undefined) removed.push({ $ref: reference });
      const left = Object.entries(whole).filter(([method]) => !gone.some((each) => each === method));
      if (gone.length < there.length) putValue(paths, path, Object.fromEntries(left));
      else {
        delete paths[path];
        pointers.add(place + escapedPointerPart(path));
      }
    }
  };
  prune(objectOf(document['paths']), '#/paths/', (method, path) => names.has(`${method.toUpperCase()} ${path}`));
  prune(objectOf(document['webhooks']), '#/webhooks/', (_, path) => names.has(`WEBHOOK ${path}`));
  for (const [place, callbacks] of callbacksOf(document)) {
    for (const [name, callback] of Object.entries(callbacks)) {
      if (!isJsonObject(callback) || callback['$ref'] !== undefined) continue;
      const before = removed.length;
      prune(callback, `${place}${escapedPointerPart(name)}/`, () => false);
      if (removed.length === before || Object.keys(callback).length > 0) continue;
      delete callbacks[name];
      pointers.add(place + escapedPointerPart(name));
    }
  }
  removeChannels(document, { groups, leftOut }, { removed, pointers });
  removeOthers(document, groups, { removed, pointers });
  return { removed, pointers };
}

/** The callbacks of all operations, including shared ones in components, each with the prefix of its JSON pointers. */
function callbacksOf(document: JsonObject): [place: string, callbacks: JsonObject][] {
  const { pathItems, callbacks } = objectOf(document['components']);
  const items = [
    ['#/paths/', document['paths']],
    ['#/webhooks/', document['webhooks']],
    ['#/components/pathItems/', pathItems],
  ] as const;
  const found = items.flatMap(([place, paths]) =>
    Object.entries(objectOf(paths)).flatMap(([path, item]) =>
      methods.map((method): [string, JsonObject] => [
        `${place}${escapedPointerPart(path)}/${method}/callbacks/`,
        objectOf(objectOf(objectOf(item)[method])['callbacks']),
      ]),
    ),
  );
  return [...found, ['#/components/callbacks/', objectOf(callbacks)]];
}

/** Removes restricted channels of AsyncAPI, and their operations. */
function removeChannels(
  document: JsonObject,
  { groups, leftOut }: DescriptionReaders,
  { removed, pointers }: Removed,
): void {
  const channels = objectOf(document['channels']);
  const gone = Object.entries(channels).filter(
    ([name, item]) => leftOut.includes(name) || isClosed(resolved(document, item).value, groups),
  );
  for (const [name] of gone) pointers.add(`#/channels/${escapedPointerPart(name)}`);
  const operations = objectOf(document['operations']);
  for (const [id, item] of Object.entries(operations)) {
    const { value: operation } = resolved(document, item);
    const channel = textOf(objectOf(operation['channel'])['$ref']) ?? '';
    const isOfGone = pointers.has(channel) || pointers.has(percentDecoded(channel));
    const parts = [operation, resolved(document, operation['channel']).value, ...traitsOf(document, operation)];
    if (!isOfGone && !parts.some((part) => isClosed(part, groups))) continue;
    removed.push({ ...operation, operationId: id });
    delete operations[id];
    pointers.add(`#/operations/${escapedPointerPart(id)}`);
  }
  for (const [name, item] of gone) {
    removed.push(resolved(document, item).value);
    delete channels[name];
  }
}

const traitsOf = (document: JsonObject, { traits }: JsonObject): JsonObject[] =>
  (Array.isArray(traits) ? traits : []).map((trait) => resolved(document, trait).value);

/** Keys whose values are schemas or data, where a name such as `x-excluded` does not restrict anything. */
const dataKeys = new Set(
  'schema schemas definitions properties items payload headers example examples default enum const'.split(' '),
);
/** Keys of objects whose own keys are names that authors choose. */
const containerKeys = new Set('paths webhooks x-webhooks channels operations callbacks pathItems'.split(' '));

/**
 * Removes restricted parts from all other places: components that nothing refers to, extensions, methods that have no pages. A part with restricted
 * traits is restricted like them.
 */
function removeOthers(document: JsonObject, groups: readonly string[], { removed, pointers }: Removed): void {
  const isGone = (item: JsonObject): boolean =>
    [item, ...traitsOf(document, item)].some((part) => isClosed(part, groups));
  const open = [{ pointer: '#', value: document as JsonObject | JsonValue[], hasNames: false }];
  const gone: { pointer: string; of: JsonObject; key: string; item: JsonObject }[] = [];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { pointer, value, hasNames } = next;
    for (const [key, item] of Object.entries(value)) {
      const place = `${pointer}/${escapedPointerPart(key)}`;
      if (!hasNames && dataKeys.has(key)) continue;
      if (!Array.isArray(value) && isJsonObject(item) && isGone(item))
        gone.push({ pointer: place, of: value, key, item });
      else if (Array.isArray(item) || isJsonObject(item))
        open.push({ pointer: place, value: item, hasNames: !hasNames && containerKeys.has(key) });
    }
  }
  for (const { pointer, of, key, item } of gone) {
    removed.push(item);
    delete of[key];
    pointers.add(pointer);
  }
}

/** Containers of named parts in OpenAPI 3, AsyncAPI and Swagger 2, with the prefix of references to them. */
function containersOf(document: JsonObject): [prefix: string, container: JsonObject][] {
  const kinds = Object.entries(objectOf(document['components']));
  return [
    ...kinds.map(([kind, of]): [string, JsonObject] => [`#/components/${kind}/`, objectOf(of)]),
    ...oldContainers.map((key): [string, JsonObject] => [`#/${key}/`, objectOf(document[key])]),
  ];
}

const oldContainers = ['definitions', 'parameters', 'responses', 'securityDefinitions'] as const;

/** Removes left-out schemas, and the parts that only removed ones refer to, directly or indirectly. */
function removeComponents(document: JsonObject, removed: readonly JsonObject[], leftOut: readonly string[]): void {
  const containers = containersOf(document);
  const parts = new Map(
    containers.flatMap(([prefix, of]) =>
      Object.entries(of).map(([name, value]) => [prefix + escapedPointerPart(name), value] as const),
    ),
  );
  const schemas = leftOut.map((name) => `#/components/schemas/${escapedPointerPart(name)}`);
  const gone = reached(parts, removed, schemas);
  const ofParts = new Set<string>(['components', ...oldContainers]);
  const rest = Object.fromEntries(Object.entries(document).filter(([key]) => !ofParts.has(key)));
  const others = [...parts.keys()].filter((name) => !gone.has(name));
  const kept = reached(parts, [rest], others);
  for (const [prefix, of] of containers) {
    for (const name of Object.keys(of)) {
      const reference = prefix + escapedPointerPart(name);
      if (gone.has(reference) && !kept.has(reference)) delete of[name];
    }
  }
}

/** Parts that the values refer to, directly or indirectly, and those `named`. */
function reached(
  parts: ReadonlyMap<string, JsonValue>,
  values: readonly JsonValue[],
  named: readonly string[],
): ReadonlySet<string> {
  const found = new Set<string>();
  const open: JsonValue[] = [...values];
  const note = (text: string): void => {
    const reference = /^#\/(?:components\/[^/]+|[^/]+)\/[^/]+/.exec(text)?.[0] ?? '';
    // A discriminator may name a schema without its path.
    const name = [reference, percentDecoded(reference), `#/components/schemas/${text}`].find((each) => parts.has(each));
    if (name === undefined || found.has(name)) return;
    found.add(name);
    open.push(parts.get(name) ?? null);
  };
  for (const name of named) note(name);
  while (open.length > 0) {
    const value = open.pop() ?? null;
    if (Array.isArray(value)) for (const item of value) open.push(item);
    else if (isJsonObject(value))
      for (const [key, item] of Object.entries(value)) {
        if (typeof item === 'string' && (item.startsWith('#/') || key === '$ref')) note(item);
        else if (key === 'security') for (const each of schemesIn(item)) note(each);
        else if (key === 'mapping') for (const each of textsOf(Object.values(objectOf(item)))) note(each);
        if (typeof item === 'object') open.push(item);
      }
  }
  return found;
}

/** References to the schemes of a `security` list, which names them without a reference. */
const schemesIn = (security: JsonValue): string[] =>
  (Array.isArray(security) ? security : [])
    .flatMap((each) => Object.keys(objectOf(each)))
    .flatMap((name) => [
      `#/components/securitySchemes/${escapedPointerPart(name)}`,
      `#/securityDefinitions/${escapedPointerPart(name)}`,
    ]);

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Removes tags that only removed operations had, because their descriptions would reveal those. */
function removeTags(document: JsonObject, removed: readonly JsonObject[]): void {
  const tagsOf = (operation: JsonValue): string[] => textsOf(objectOf(operation)['tags']);
  const left = ['paths', 'webhooks'].flatMap((key) =>
    Object.values(objectOf(document[key])).flatMap((item) => {
      const whole = pathItemOf(document, item);
      return methods.flatMap((method) => tagsOf(whole[method] ?? null));
    }),
  );
  const gone = new Set(removed.flatMap(tagsOf)).difference(new Set(left));
  if (gone.size === 0) return;
  const isLeft = (tag: JsonValue): boolean => !gone.has(textOf(isJsonObject(tag) ? tag['name'] : tag) ?? '');
  const { tags, 'x-tagGroups': tagGroups } = document;
  if (Array.isArray(tags)) document['tags'] = tags.filter(isLeft);
  if (Array.isArray(tagGroups))
    document['x-tagGroups'] = tagGroups.filter((group) => {
      if (!isJsonObject(group) || !Array.isArray(group['tags'])) return true;
      const tagsLeft = group['tags'].filter(isLeft);
      const isEmptied = tagsLeft.length === 0 && group['tags'].length > 0;
      group['tags'] = tagsLeft;
      return !isEmptied;
    });
}

/** Removes links of responses and references to removed operations, by their operation ids and by JSON pointers to their places. */
function removeReferences(document: JsonObject, ids: ReadonlySet<string>, pointers: ReadonlySet<string>): void {
  const isGone = (text: string): boolean => {
    for (let end = text.length; end > 0; end = text.lastIndexOf('/', end - 1))
      if (pointers.has(text.slice(0, end))) return true;
    return false;
  };
  const leadsThere = (item: JsonValue): boolean => {
    const { $ref, operationRef } = objectOf(item);
    return [$ref, operationRef].some(
      (text) => typeof text === 'string' && text.startsWith('#/') && (isGone(text) || isGone(percentDecoded(text))),
    );
  };
  const open: (JsonObject | JsonValue[])[] = [document];
  while (open.length > 0) {
    const next = open.pop() ?? [];
    if (Array.isArray(next)) {
      const kept = next.filter((item) => !leadsThere(item));
      if (kept.length < next.length) next.splice(0, next.length, ...kept);
    } else {
      for (const [name, link] of Object.entries(objectOf(next['links'])))
        if (ids.has(textOf(objectOf(link)['operationId']) ?? '')) delete objectOf(next['links'])[name];
      for (const [key, item] of Object.entries(next)) if (leadsThere(item)) delete next[key];
    }
    for (const item of Object.values(next)) if (Array.isArray(item) || isJsonObject(item)) open.push(item);
  }
}
