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
import { metadataOf, methods, pathItemOf } from '../operations.ts';
import { maxSpecificationBytes, readWritten, SpecificationRefused } from '../parse-specification.ts';

/** Whom an API description is for: the groups that were asked for, and what has only pages that are left out, named as slices are. */
export type DescriptionReaders = { groups: readonly string[]; leftOut: readonly string[] };

/**
 * The file of an API description as a bundle may have it: without operations, webhooks and channels that are excluded (`x-excluded`) or belong to
 * groups that were not asked for, and without what only those refer to. Undefined: the file as it is, for there is none of that in it, or it
 * cannot be read, so no page is made of it either.
 */
export function publishedDescription(
  bytes: Uint8Array,
  file: string,
  readers: DescriptionReaders,
): Uint8Array | undefined {
  if (bytes.byteLength > maxSpecificationBytes) return undefined;
  let document: JsonValue;
  try {
    document = readWritten(bytes, file);
  } catch (error) {
    if (error instanceof SpecificationRefused) return undefined;
    throw error;
  }
  if (!isJsonObject(document)) return undefined;
  const removed = removeParts(document, readers);
  const schemas = objectOf(objectOf(document['components'])['schemas']);
  const leftOut = readers.leftOut.filter((name) => Object.hasOwn(schemas, name));
  if (removed.length + leftOut.length === 0) return undefined;
  removeComponents(document, removed, leftOut);
  removeTags(document, removed);
  removeLinks(document, new Set(removed.flatMap(({ operationId }) => textsOf(operationId))));
  return Buffer.from(file.toLowerCase().endsWith('.json') ? jsonText(document) : dump(document, { noRefs: true }));
}

const jsonText = (document: JsonObject): string => `${JSON.stringify(document, null, 2)}\n`;

/** Takes out what not everybody may read. Gives operations and channels that are gone. */
function removeParts(document: JsonObject, { groups, leftOut }: DescriptionReaders): JsonObject[] {
  const names = new Set(leftOut);
  const isGone = (written: JsonObject, name: string): boolean => {
    const own = textsOf(objectOf(written['x-mint'])['groups'] ?? metadataOf(written)['groups']);
    const isOfOthers = own.length > 0 && !own.some((group) => groups.includes(group));
    return written['x-excluded'] === true || isOfOthers || names.has(name);
  };
  const removed: JsonObject[] = [];
  for (const key of ['paths', 'webhooks']) {
    const paths = objectOf(document[key]);
    for (const [path, item] of Object.entries(paths)) {
      const whole = pathItemOf(document, item);
      const there = methods.filter((method) => isJsonObject(whole[method]));
      const gone = there.filter((method) => {
        const written = objectOf(whole[method]);
        const name = key === 'webhooks' ? `WEBHOOK ${path}` : `${method.toUpperCase()} ${path}`;
        return whole['x-excluded'] === true || isGone(written, name);
      });
      if (gone.length === 0) continue;
      removed.push(...gone.map((method) => objectOf(whole[method])));
      // A path may be a reference to one that others refer to.
      const left = Object.entries(whole).filter(([method]) => !gone.some((each) => each === method));
      if (gone.length === there.length) delete paths[path];
      else putValue(paths, path, Object.fromEntries(left));
    }
  }
  const channels = objectOf(document['channels']);
  for (const [name, item] of Object.entries(channels)) {
    const written = isJsonObject(item) ? followed(document, item) : {};
    if (!isGone(written, name)) continue;
    removed.push(written);
    delete channels[name];
    const reference = `#/channels/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const operations = objectOf(document['operations']);
    for (const [id, operation] of Object.entries(operations)) {
      if (objectOf(objectOf(operation)['channel'])['$ref'] !== reference) continue;
      removed.push({ ...objectOf(operation), operationId: id });
      delete operations[id];
    }
  }
  return removed;
}

function followed(document: JsonObject, item: JsonObject): JsonObject {
  const target = /^#\/components\/channels\/([^/]+)$/.exec(textOf(item['$ref']) ?? '')?.[1];
  const channels = objectOf(objectOf(document['components'])['channels']);
  return target === undefined ? item : objectOf(channels[target]);
}

/** Where named parts are, in OpenAPI 3, AsyncAPI and Swagger 2. Security schemes are named without a reference, and stay. */
function containersOf(document: JsonObject): [prefix: string, container: JsonObject][] {
  const kinds = Object.entries(objectOf(document['components'])).filter(([kind]) => kind !== 'securitySchemes');
  const old = ['definitions', 'parameters', 'responses'].map((key) => [`#/${key}/`, objectOf(document[key])] as const);
  return [...kinds.map(([kind, of]) => [`#/components/${kind}/`, objectOf(of)] as const), ...old].map(
    ([prefix, of]): [string, JsonObject] => [prefix, of],
  );
}

/** Removes the schemas left out and the parts that what is gone referred to, one through the other, as far as nothing that is left does. */
function removeComponents(document: JsonObject, removed: readonly JsonObject[], leftOut: readonly string[]): void {
  const containers = containersOf(document);
  const parts = new Map(
    containers.flatMap(([prefix, of]) =>
      Object.entries(of).map(([name, value]) => [prefix + escaped(name), value] as const),
    ),
  );
  const schemas = leftOut.map((name) => `#/components/schemas/${escaped(name)}`);
  const gone = reached(parts, removed, schemas);
  const { components: _1, definitions: _2, parameters: _3, responses: _4, ...rest } = document;
  const others = [...parts.keys()].filter((name) => !gone.has(name));
  const kept = reached(parts, [rest], others);
  for (const [prefix, of] of containers) {
    for (const name of Object.keys(of)) {
      const reference = prefix + escaped(name);
      if (gone.has(reference) && !kept.has(reference)) delete of[name];
    }
  }
}

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** The parts that values refer to, and those `named`, each with what it refers to itself. */
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
        else if (key === 'mapping') for (const each of textsOf(Object.values(objectOf(item)))) note(each);
        if (typeof item === 'object') open.push(item);
      }
  }
  return found;
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Removes tags that only what is gone had: they say what it is about. */
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
    for (const group of tagGroups)
      if (isJsonObject(group) && Array.isArray(group['tags'])) group['tags'] = group['tags'].filter(isLeft);
}

/** Removes links of responses that lead to what is gone. */
function removeLinks(value: JsonValue, ids: ReadonlySet<string>): void {
  if (ids.size === 0) return;
  const open: JsonValue[] = [value];
  while (open.length > 0) {
    const next = open.pop() ?? null;
    if (typeof next !== 'object' || next === null) continue;
    const { links } = Array.isArray(next) ? {} : next;
    for (const [name, link] of Object.entries(objectOf(links)))
      if (ids.has(textOf(objectOf(link)['operationId']) ?? '')) delete objectOf(links)[name];
    for (const item of Object.values(next)) open.push(item);
  }
}
