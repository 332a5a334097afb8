import type { Nodes, Root } from 'mdast';
import { type JsonObject, type JsonValue, objectOf, textOf } from '#shared/docs/project/json-values.ts';
import type { StaticElement, StaticProps } from '#shared/docs/render/evaluate/static-tree.ts';
import { openDocument, type OpenSlice } from './open-slice.ts';

/** An operation that a page describes itself, with `api` and `authMethod` of its frontmatter, or `api.mdx` of docs.json. */
export type WrittenApi = {
  /** Method in upper case. */
  method: string;
  /** Address of the server, without a slash at its end; undefined if it is not configured. */
  server?: string;
  /** Path with a leading slash, or empty. */
  path: string;
  auth?: { method: 'bearer' | 'basic' | 'key'; name?: string };
};

const form = /^(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|TRACE|QUERY)\s+(\S.*)$/i;

/** Reads `api` of a page. Undefined if it is absent, or not a method with a path or an address. `settings` is `api` of docs.json. */
export function writtenApi(frontmatter: JsonObject, settings: JsonValue | undefined): WrittenApi | undefined {
  const [, method, target = ''] = form.exec(textOf(frontmatter['api']) ?? '') ?? [];
  if (method === undefined) return undefined;
  const mdx = objectOf(objectOf(settings)['mdx']);
  const [, ownServer, rest] = /^(https?:\/\/[^/?#]+)(.*)$/i.exec(target) ?? [];
  const server = ownServer ?? firstText(mdx['server'])?.replace(/\/+$/, '');
  const path = rest ?? `/${target.replace(/^\/+/, '')}`;
  const auth = authOf(frontmatter, objectOf(mdx['auth']));
  return { method: method.toUpperCase(), path, ...(server !== undefined && { server }), ...(auth && { auth }) };
}

const firstText = (value: JsonValue | undefined): string | undefined => textOf(Array.isArray(value) ? value[0] : value);

function authOf(frontmatter: JsonObject, preset: JsonObject): WrittenApi['auth'] {
  const method = (textOf(frontmatter['authMethod']) ?? textOf(preset['method']))?.toLowerCase();
  const name = textOf(preset['name']);
  if (method !== 'bearer' && method !== 'basic' && method !== 'key') return undefined;
  return { method, ...(method === 'key' && name !== undefined && { name }) };
}

const maxFields = 500;

/** The operation that a page describes with `ParamField`s, in the form of a specification. */
export function writtenSlice(page: Root, api: WrittenApi): OpenSlice | undefined {
  const parameters: JsonObject[] = [];
  const body = new ObjectSchema();
  let fields = 0;
  const pending: Nodes[] = [page];
  for (let node = pending.pop(); node !== undefined && fields < maxFields; node = pending.pop()) {
    if (node.type === 'staticElement' && isField(node)) {
      fields += 1;
      const [place, name] = placeOf(node.props);
      const schema = schemaOf(node);
      if (place === 'body') body.add(name, schema, isRequired(node.props));
      else if (place !== undefined) parameters.push(parameterOf(place, name, schema, node.props));
    } else if ('children' in node) pending.push(...node.children.toReversed());
  }
  const { server, path, method, auth } = api;
  const operation: JsonObject = {
    parameters: parameters.filter(({ in: place, name }) => auth === undefined || !isCredential(place, name, auth)),
    ...(!body.isEmpty && { requestBody: { content: { 'application/json': { schema: body.schema() } } } }),
  };
  return openDocument({
    openapi: '3.1.0',
    ...(server !== undefined && { servers: [{ url: server }] }),
    ...(auth && { security: [{ auth: [] }], components: { securitySchemes: { auth: schemeOf(auth) } } }),
    paths: { [path]: { [method.toLowerCase()]: operation } },
  });
}

const isField = ({ name }: StaticElement): boolean => name === 'ParamField' || name === 'Param';

const places = ['path', 'query', 'header', 'cookie', 'body'] as const;

function placeOf(props: StaticProps): [place: (typeof places)[number] | undefined, name: string] {
  const place = places.find((each) => typeof props.get(each) === 'string');
  return [place, place === undefined ? '' : textIn(props, place)];
}

function textIn(props: StaticProps, name: string): string {
  const value = props.get(name);
  return typeof value === 'string' ? value : '';
}

const isRequired = (props: StaticProps): boolean => {
  const written = props.get('required');
  return written === true || written === 'true' || (props.has('optional') && props.get('optional') === false);
};

function parameterOf(place: string, name: string, schema: JsonObject, props: StaticProps): JsonObject {
  const isAuthorization = place === 'header' && name.toLowerCase() === 'authorization';
  return {
    in: place,
    name,
    required: isRequired(props) || place === 'path' || isAuthorization,
    schema,
    ...(isAuthorization && schema['example'] === undefined && { example: 'Bearer <token>' }),
  };
}

const fieldNameOf = (scheme: JsonObject): string => textOf(scheme['name']) ?? 'Authorization';

/** True for the header that carries the credential, which is not shown as a second parameter. */
const isCredential = (
  place: JsonValue | undefined,
  name: JsonValue | undefined,
  auth: NonNullable<WrittenApi['auth']>,
): boolean => place === 'header' && textOf(name)?.toLowerCase() === fieldNameOf(schemeOf(auth)).toLowerCase();

function schemeOf({ method, name }: NonNullable<WrittenApi['auth']>): JsonObject {
  return method === 'key'
    ? { type: 'apiKey', in: 'header', name: name ?? 'X-API-Key' }
    : { type: 'http', scheme: method };
}

/** An object schema whose properties are collected one by one. */
class ObjectSchema {
  readonly #properties = new Map<string, JsonObject>();
  readonly #required: string[] = [];

  add(name: string, schema: JsonObject, required: boolean): void {
    this.#properties.set(name, schema);
    if (required) this.#required.push(name);
  }

  get isEmpty(): boolean {
    return this.#properties.size === 0;
  }

  schema(): JsonObject {
    return { type: 'object', properties: Object.fromEntries(this.#properties), required: this.#required };
  }
}

/** A schema for a type as authors write it: `string`, `number[]`, `array of objects`, `"a" | "b"`. */
function schemaOf({ props, children }: StaticElement, depth = 0): JsonObject {
  const written = textIn(props, 'type').trim().slice(0, 200);
  const inside = new ObjectSchema();
  if (depth < 8) for (const field of fieldsIn(children)) inside.add(...memberOf(field, depth));
  const isList = /\[\]$|^(?:array|list)\b/i.test(written);
  const item = written.replace(/\[\]$/, '').replace(/^(?:array|list)(?:\s+of\s+|<|\()?/i, '');
  const one: JsonObject = inside.isEmpty ? { type: typeOf(item), ...formatOf(item) } : inside.schema();
  const given = ['default', 'initialValue', 'placeholder'].map((name) => props.get(name));
  const example = given.find((value) => ['string', 'number', 'boolean'].includes(typeof value)) as
    | JsonValue
    | undefined;
  const [, option] = /^["'`]([^"'`|]+)["'`]\s*\|/.exec(written) ?? [];
  const shown = example === undefined ? option : asTyped(example, one);
  return {
    ...(isList ? { type: 'array', items: one } : one),
    ...(shown !== undefined && { example: isList ? [shown] : shown }),
  };
}

function memberOf(field: StaticElement, depth: number): [name: string, schema: JsonObject, required: boolean] {
  return [textIn(field.props, 'name') || placeOf(field.props)[1], schemaOf(field, depth + 1), isRequired(field.props)];
}

/** The nearest fields inside nodes, whatever elements are around them. */
function fieldsIn(nodes: readonly Nodes[]): StaticElement[] {
  return nodes.flatMap((node): StaticElement[] => {
    if (node.type === 'staticElement' && (isField(node) || node.name === 'ResponseField')) return [node];
    return 'children' in node ? fieldsIn(node.children) : [];
  });
}

function typeOf(written: string): string {
  if (/^(?:int|long)/i.test(written)) return 'integer';
  if (/^(?:number|float|double|decimal)/i.test(written)) return 'number';
  if (/^bool/i.test(written)) return 'boolean';
  return /^(?:object|map|record|dict|json)/i.test(written) ? 'object' : 'string';
}

const formatOf = (written: string): JsonObject => (/^file|binary/i.test(written) ? { format: 'binary' } : {});

/** Converts a value to its type: `default="10"` of a number becomes 10. */
function asTyped(value: JsonValue, { type }: JsonObject): JsonValue {
  if (typeof value !== 'string') return value;
  if ((type === 'integer' || type === 'number') && value.trim() !== '' && Number.isFinite(Number(value)))
    return Number(value);
  return type === 'boolean' && /^(?:true|false)$/.test(value) ? value === 'true' : value;
}
