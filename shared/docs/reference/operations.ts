import {
  isJsonObject,
  type JsonObject,
  objectOf,
  objectsOf,
  textOf,
  textsOf,
} from '#shared/docs/project/json-values.ts';

export const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'] as const;
const maxOperations = 5_000;
/** Maximum length of a title, which is in the sidebar and several times in the head of the page. */
export const longestTitle = 300;

/** An operation or webhook of a specification. */
export type Operation = {
  kind: 'operation' | 'webhook';
  /** Method in upper case. */
  method: string;
  /** Path of an operation, or name of a webhook. */
  path: string;
  title: string;
  /** The group of its page when pages are made for all operations. */
  group: string | undefined;
  /** `isHidden` (`x-hidden`) keeps its page out of generated navigation. `isExcluded` (`x-excluded`) means that it has no page. */
  isHidden: boolean;
  isExcluded: boolean;
  isDeprecated: boolean;
  /** The path item and the operation as written. */
  pathItem: JsonObject;
  written: JsonObject;
};

/** All operations and webhooks in the order of the file, at most 5,000. */
export function operationsOf(specification: JsonObject): Operation[] {
  const found: Operation[] = [];
  for (const [kind, key] of [
    ['operation', 'paths'],
    ['webhook', 'webhooks'],
  ] as const) {
    for (const [path, item] of Object.entries(objectOf(specification[key]))) {
      if (found.length >= maxOperations) return found;
      const pathItem = pathItemOf(specification, item);
      for (const method of methods) {
        const written = pathItem[method];
        if (isJsonObject(written) && found.length < maxOperations)
          found.push(operation(kind, method.toUpperCase(), path, pathItem, written));
      }
    }
  }
  return found;
}

const pathItemKeys = [...methods, 'parameters', 'servers', 'x-hidden', 'x-excluded'] as const;

const mostReferences = 20;

/** The path item, which may be a reference to a component. Many paths may refer to a large component, so only the used keys are copied. */
export function pathItemOf(specification: JsonObject, item: JsonObject[string]): JsonObject {
  const written = objectOf(item);
  if (written['$ref'] === undefined) return written;
  const parts = followed(specification, written).items;
  return Object.fromEntries(
    pathItemKeys.flatMap((key): [string, JsonObject[string]][] => {
      const value = parts.map((part) => part[key]).find((each) => each !== undefined);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

/** Follows the references of an object: returns the objects on the way, and the reference without a target in the file, if there is one. */
export function followed(
  specification: JsonObject,
  item: JsonObject,
): { items: JsonObject[]; lost: string | undefined } {
  const items = [item];
  let reference = textOf(item['$ref']);
  while (reference !== undefined && items.length <= mostReferences) {
    const target = resolvePointer(specification, reference);
    if (!isJsonObject(target)) return { items, lost: reference };
    if (items.includes(target)) break;
    items.push(target);
    reference = textOf(target['$ref']);
  }
  return { items, lost: undefined };
}

/** Up to five paths, webhooks and channels whose reference leads to another file or nowhere, with the reference. They have no pages. */
export function lostPaths(specification: JsonObject): { path: string; reference: string }[] {
  const found: { path: string; reference: string }[] = [];
  for (const key of ['paths', 'webhooks', 'channels']) {
    for (const [path, item] of Object.entries(objectOf(specification[key]))) {
      if (!isJsonObject(item)) continue;
      const { lost } = followed(specification, item);
      if (lost !== undefined) found.push({ path, reference: lost });
      if (found.length >= 5) return found;
    }
  }
  return found;
}

function operation(
  kind: Operation['kind'],
  method: string,
  path: string,
  pathItem: JsonObject,
  written: JsonObject,
): Operation {
  const isMarked = (key: string): boolean => written[key] === true || pathItem[key] === true;
  return {
    kind,
    method,
    path,
    title: titleOf(kind, method, path, written),
    group: textOf(written['x-group']) ?? textsOf(written['tags'])[0],
    isHidden: isMarked('x-hidden'),
    isExcluded: isMarked('x-excluded'),
    isDeprecated: written['deprecated'] === true,
    pathItem,
    written,
  };
}

function titleOf(kind: Operation['kind'], method: string, path: string, written: JsonObject): string {
  const title = textOf(metadataOf(written)['title']) ?? textOf(written['summary']);
  if (title !== undefined) return title.slice(0, longestTitle).toWellFormed();
  const id = textOf(written['operationId']);
  if (id !== undefined && id.length < 100) return inWords(id);
  return kind === 'webhook' ? path : `${method} ${path}`;
}

/** Converts `listUsers` and `list_users` to `List users`. */
export function inWords(id: string): string {
  const words = id
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/[-_.\s]+/g, ' ')
    .trim();
  return words === '' ? id : words.charAt(0).toUpperCase() + words.slice(1).toLowerCase();
}

/** `x-mint.metadata`: frontmatter for the generated page. */
export const metadataOf = (written: JsonObject): JsonObject => objectOf(objectOf(written['x-mint'])['metadata']);

/** Finds the operation named `GET /users/{id}` or `WEBHOOK name`. */
export type OperationIndex = (method: string, path: string) => Operation | undefined;

/**
 * Builds the index. A path may be named without its slash at the end, and with other names in braces. The first operation of the file takes
 * precedence.
 */
export function operationIndex(operations: readonly Operation[]): OperationIndex {
  const forms = [
    (path: string) => path,
    withoutSlash,
    (path: string) => withoutSlash(path).replaceAll(/\{[^}]*\}/g, '{}'),
  ];
  const found = forms.map(() => new Map<string, Operation>());
  for (const operation of operations) {
    const method = operation.kind === 'webhook' ? 'WEBHOOK' : operation.method;
    for (const [at, form] of forms.entries()) {
      const key = `${method} ${form(operation.path)}`;
      if (!found[at]?.has(key)) found[at]?.set(key, operation);
    }
  }
  return (method, path) => {
    for (const [at, form] of forms.entries()) {
      const operation = found[at]?.get(`${method} ${form(path)}`);
      if (operation) return operation;
    }
    return undefined;
  };
}

const withoutSlash = (path: string): string => (path.length > 1 ? path.replace(/\/$/, '') : path);

/** The target of a reference such as `#/components/schemas/Pet` in a document; undefined if there is none, or it is in another file. */
export function resolvePointer(document: JsonObject, reference: string): JsonObject[string] | undefined {
  if (!reference.startsWith('#/')) return reference === '#' ? document : undefined;
  let at: JsonObject[string] | undefined = document;
  for (const part of reference.slice(2).split('/')) {
    if (Array.isArray(at)) at = at[Number(part)];
    else if (isJsonObject(at)) {
      const key = keyOf(at, part);
      if (key === undefined) return undefined;
      at = at[key];
    } else return undefined;
  }
  return at;
}

/** A key as a part of a JSON pointer. */
export const escapedPointerPart = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/** Decodes a part of a JSON pointer: `a%20b~1c` is the key `a b/c`. Some authors do not encode `%`. */
function keyOf(object: JsonObject, part: string): string | undefined {
  if (!part.includes('~') && !part.includes('%')) return Object.hasOwn(object, part) ? part : undefined;
  const asWritten = part.replaceAll('~1', '/').replaceAll('~0', '~');
  if (part.includes('%')) {
    try {
      const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
      if (Object.hasOwn(object, key)) return key;
    } catch {
      // The part is not percent-encoded, so it is a plain key.
    }
  }
  return Object.hasOwn(object, asWritten) ? asWritten : undefined;
}

/** Names of the tags as shown to readers. */
export function tagTitles(specification: JsonObject): Map<string, string> {
  return new Map(
    objectsOf(specification['tags']).flatMap((tag) => {
      const name = textOf(tag['name']);
      return name === undefined
        ? []
        : [[name, textOf(tag['x-group']) ?? textOf(tag['x-displayName']) ?? name] as const];
    }),
  );
}
