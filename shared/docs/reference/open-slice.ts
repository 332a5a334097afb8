import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectOf,
  objectsOf,
  textOf,
  textsOf,
} from '#shared/docs/project/json-values.ts';
import { parseExactJson } from '#shared/docs/project/exact-numbers.ts';
import { RecentValues } from '#shared/docs/render/recent-values.ts';
import { type Operation, operationsOf, resolvePointer } from './operations.ts';
import { linesOfSlice } from './slice-lines.ts';

/** An opened slice, from which the page of an operation, a schema or a channel is made. */
export type OpenSlice = {
  document: JsonObject;
  /** The operation of the page; undefined for the page of a schema or channel. */
  operation: Operation | undefined;
  schema: JsonValue | undefined;
  /** The channel as written by `sliceChannel`, for the page of a channel. */
  channel?: JsonObject;
  /** True if some schema has read-only or write-only fields, so that requests and responses differ. */
  hasSides?: boolean;
};

/** Opens a slice that publication made, possibly with an earlier version. Undefined if it has no content. */
export function openSlice(text: string): OpenSlice | undefined {
  let read: { document: unknown; hasSides: boolean };
  try {
    read = readSlice(text);
  } catch {
    return undefined;
  }
  const { document, hasSides } = read;
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return undefined;
  const opened = openDocument(document as JsonObject);
  return opened && { ...opened, hasSides };
}

/** Cache: operations of an interface share their schemas. Parsed definitions are never changed. */
const recentDefinitions = new RecentValues<JsonObject>(2_000_000);

/** Definitions are parsed on first access, because a page shows few of those that it could reach. */
function readSlice(text: string): { document: unknown; hasSides: boolean } {
  const hasSides = text.includes('"readOnly":true') || text.includes('"writeOnly":true');
  const lines = linesOfSlice(text);
  if (lines === undefined) return { document: parseExactJson(text), hasSides };
  const document = parseExactJson(lines.document) as { components: { schemas: JsonObject } };
  for (const line of lines.definitions) {
    // The name cannot contain a quote.
    const name = line.slice(1, line.indexOf('"', 1));
    let value: JsonValue | undefined;
    const get = (): JsonValue => {
      value ??= recentDefinitions.get(`{${line}}`, () => parseExactJson(`{${line}}`) as JsonObject)[name] ?? null;
      return value;
    };
    Object.defineProperty(document.components.schemas, name, { get, enumerable: true });
  }
  return { document, hasSides };
}

/** Opens a document with its first operation, its schema, or its channel. */
export function openDocument(slice: JsonObject): OpenSlice | undefined {
  const operation = operationsOf(slice)[0];
  const { 'x-bindery-schema': schema, 'x-bindery-channel': channel } = slice;
  if (isJsonObject(channel)) return { document: slice, operation: undefined, schema: undefined, channel };
  return operation === undefined && schema === undefined ? undefined : { document: slice, operation, schema };
}

/** Short heading of a page about an operation or channel: a method or protocol in upper case, and a path, address or name. */
export type Endpoint = { method: string; address: string };

const maxReferences = 20;

/**
 * The target of a value's reference, followed through several references if needed, merged with the keys beside them; and the references that were
 * followed.
 */
export function resolved(document: JsonObject, value: JsonValue | undefined): { value: JsonObject; names: string[] } {
  let made = objectOf(value);
  if (made['$ref'] === undefined) return { value: made, names: [] };
  const names: string[] = [];
  while (names.length < maxReferences) {
    const reference = made['$ref'];
    if (typeof reference !== 'string') return { value: made, names };
    if (names.includes(reference)) break;
    names.push(reference);
    const { $ref: _, ...beside } = made;
    const target = objectOf(resolvePointer(document, reference));
    made = Object.keys(beside).length === 0 ? target : { ...target, ...beside };
  }
  const { $ref: _, ...rest } = made;
  return { value: rest, names };
}

/** The last part of a reference's path, by which authors know it. */
export const nameOfReference = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1);

/** Items of a list that are objects, with their references followed. */
const resolvedList = (document: JsonObject, value: JsonValue | undefined): JsonObject[] =>
  (Array.isArray(value) ? value : []).flatMap((item) => (isJsonObject(item) ? [resolved(document, item).value] : []));

/** A value as shown to readers: text unchanged, other values as JSON. */
export const shownValue = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Entries of an object of a specification, without its extensions. */
export const entriesOf = (value: JsonValue | undefined): [string, JsonValue][] =>
  Object.entries(objectOf(value)).filter(([key]) => !key.startsWith('x-'));

/** Entries of an object whose keys authors choose freely, such as headers: an `x-` key is an extension only if its value is not an object. */
export const namedIn = (value: JsonValue | undefined): [string, JsonValue][] =>
  Object.entries(objectOf(value)).filter(([key, item]) => !key.startsWith('x-') || isJsonObject(item));

export type Server = { url: string; description: string | undefined };

/** Servers of an operation, or else of its path or its specification, as written. */
export function writtenServersOf({ document, operation }: OpenSlice): JsonObject[] {
  const own = [operation?.written['servers'], operation?.pathItem['servers'], document['servers']];
  return resolvedList(
    document,
    own.find((servers) => Array.isArray(servers) && servers.length > 0),
  );
}

/** Servers with their variables at their defaults. */
export function serversOf(slice: OpenSlice): Server[] {
  return writtenServersOf(slice).flatMap((server) => {
    const written = textOf(server['url']);
    if (written === undefined) return [];
    const variables = objectOf(server['variables']);
    const url = written.replaceAll(/\{([^{}]{1,100})\}/g, (braces, name: string) => {
      return Object.hasOwn(variables, name) ? (textOf(objectOf(variables[name])['default']) ?? braces) : braces;
    });
    return [{ url: url.replace(/\/$/, ''), description: textOf(server['description']) }];
  });
}

/** Parameters of an operation and its path; the operation's own take precedence. */
export function parametersOf({ document }: OpenSlice, { pathItem, written }: Operation): JsonObject[] {
  const all = [pathItem, written].flatMap((part) => resolvedList(document, part['parameters']));
  const byName = new Map(
    all.map((parameter) => [`${textOf(parameter['in'])} ${textOf(parameter['name'])}`, parameter]),
  );
  return [...byName.values()].filter((parameter) => parameter['x-hidden'] !== true);
}

export type SecurityScheme = { name: string; scheme: JsonObject; scopes: string[] };

/** Alternative sets of schemes. A request needs all schemes of one set. */
export function securityOf({ document }: OpenSlice, written: JsonObject): SecurityScheme[][] {
  const schemes = objectOf(objectOf(document['components'])['securitySchemes']);
  return objectsOf(written['security'] ?? document['security']).map((set) =>
    Object.entries(set).flatMap(([name, scopes]) =>
      Object.hasOwn(schemes, name)
        ? [{ name, scheme: resolved(document, schemes[name]).value, scopes: textsOf(scopes) }]
        : [],
    ),
  );
}

/** Place and form of a credential in a request. */
export function credentialOf(scheme: JsonObject): { place: string; field: string; value: string | undefined } {
  const type = textOf(scheme['type']);
  if (type === 'apiKey')
    return { place: textOf(scheme['in']) ?? 'header', field: textOf(scheme['name']) ?? 'X-API-Key', value: undefined };
  // A client certificate belongs to the connection, not to the request.
  if (type === 'mutualTLS') return { place: 'tls', field: 'mutualTLS', value: undefined };
  const isBasic = type === 'http' && textOf(scheme['scheme'])?.toLowerCase() === 'basic';
  return { place: 'header', field: 'Authorization', value: isBasic ? 'Basic <credentials>' : 'Bearer <token>' };
}

const longestLine = 300;

/** A description that is one line of text; undefined for a longer one, which becomes content of the page. */
export function lineOf(description: JsonValue | undefined): string | undefined {
  const text = textOf(description);
  return text === undefined || text.length > longestLine || /\n\s*\n|^\s*(?:[-*+>#|]|\d+\.)|```/m.test(text)
    ? undefined
    : text.replaceAll(/\s+/g, ' ');
}
