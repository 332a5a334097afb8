import fc from 'fast-check';
import { type JsonSchema, type OpenApiDocument, type Operation, resolved } from '#services/gateway/openapi.ts';

/** A request to an operation: valid by the description, or invalid in one or several ways. */
export type DescribedRequest = {
  operationId: string;
  method: string;
  /** Path with the query, percent-encoded. */
  path: string;
  headers: Record<string, string>;
  /** The key of the request. */
  credential: string;
  body: string | Uint8Array<ArrayBuffer> | undefined;
};

type RequestOptions = {
  credentials: readonly string[];
  /** The valid key of an operation. */
  credentialOf: (operation: Operation) => string;
  /** Existing values, by the names of parameters and fields. */
  known: Readonly<Record<string, readonly string[]>>;
  archive: Uint8Array<ArrayBuffer>;
};

type Schemas = Readonly<Record<string, JsonSchema>>;

/** Requests to all operations of a description. About half of them are valid in every part. */
export function describedRequests(document: OpenApiDocument, options: RequestOptions): fc.Arbitrary<DescribedRequest> {
  const { schemas } = document.components;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => requestTo(path, method, operation, schemas, options)),
  );
  return fc.oneof(...operations);
}

function requestTo(
  path: string,
  method: string,
  operation: Operation,
  schemas: Schemas,
  { credentials, credentialOf, known, archive }: RequestOptions,
): fc.Arbitrary<DescribedRequest> {
  const valueOf = (name: string, schema: JsonSchema) => {
    const valid = fitting(schema, schemas, known).map(String);
    const [one, ...more] = known[name] ?? [];
    return one === undefined ? valid : fc.oneof({ weight: 3, arbitrary: fc.constantFrom(one, ...more) }, valid);
  };
  const parameters = operation.parameters.map(({ name, in: place, required, schema }) => {
    const right = valueOf(name, schema);
    const wrong = place === 'header' ? fc.string({ maxLength: 40 }) : fc.string({ unit: 'binary', maxLength: 300 });
    const given = fc.oneof({ weight: 9, arbitrary: right }, wrong);
    return fc
      .option(given, { nil: undefined, freq: required ? 1_000 : 1 })
      .map((value) => ({ name, place, value: value ?? (place === 'path' ? 'x' : undefined) }));
  });
  const types = ['*/*', ...Object.values(operation.responses).flatMap(({ content = {} }) => Object.keys(content))];
  return fc
    .record({
      parameters: fc.tuple(...parameters),
      more: fc.oneof(
        { weight: 9, arbitrary: fc.constant({}) },
        fc.dictionary(fc.string(), fc.string(), { maxKeys: 2 }),
      ),
      accept: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...types) }, fc.string({ maxLength: 20 })),
      credential: fc.oneof(
        { weight: 12, arbitrary: fc.constant(credentialOf(operation)) },
        fc.constantFrom(...credentials),
      ),
      sent: sentBody(operation, schemas, known, archive),
    })
    .map(({ parameters, more, accept, credential, sent }) => {
      const of = (wanted: string) =>
        parameters.flatMap(({ name, place, value }): [string, string][] =>
          place === wanted && value !== undefined ? [[name, value]] : [],
        );
      const values = new Map(of('path'));
      const query = new URLSearchParams([...of('query'), ...Object.entries(more)]).toString();
      const headers = Object.fromEntries(of('header').map(([name, value]) => [name, inHeader(value)]));
      return {
        operationId: operation.operationId,
        method: method.toUpperCase(),
        path: `${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => inPath(values.get(name) ?? ''))}${query && `?${query}`}`,
        headers: { ...headers, accept: inHeader(accept), ...sent.headers },
        credential,
        body: sent.body,
      };
    });
}

/** Removes characters that clients cannot send in a header. */
const inHeader = (value: string) => value.replaceAll(/[^\x20-\x7e]/g, '').trim();

/** Replaces lone surrogates, which have no UTF-8, and the segments `.` and `..`, which clients resolve. */
const inPath = (value: string) => encodeURIComponent(value.toWellFormed()).replace(/^\.{1,2}$/, '%20');

type Sent = { headers: Record<string, string>; body: DescribedRequest['body'] };

function sentBody(
  { requestBody }: Operation,
  schemas: Schemas,
  known: RequestOptions['known'],
  archive: Uint8Array<ArrayBuffer>,
): fc.Arbitrary<Sent> {
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  if (type === undefined || content === undefined) return fc.constant({ headers: {}, body: undefined });
  const typed = (body: DescribedRequest['body']): Sent => ({ headers: { 'content-type': type }, body });
  const otherType = fc
    .constantFrom('text/plain', 'application/xml', 'multipart/form-data', 'application/json; charset=utf-16', '')
    .map((other): Sent => ({ headers: other === '' ? {} : { 'content-type': other }, body: 'x' }));
  const nothing = fc.constant(typed(undefined));
  if (content.schema === undefined) {
    const bytes = fc.uint8Array({ maxLength: 2_000 }).map((each) => typed(Uint8Array.from(each)));
    const cut = fc.nat(archive.length).map((at) => typed(archive.slice(0, at)));
    return fc.oneof({ weight: 2, arbitrary: fc.constant(typed(archive)) }, bytes, cut, otherType, nothing);
  }
  const right = fitting(content.schema, schemas, known);
  const wrong = fc.tuple(right, fc.nat(), fc.jsonValue()).map(([value, at, other]) => spoiled(value, at, other));
  const json = (values: fc.Arbitrary<unknown>) => values.map((value) => typed(JSON.stringify(value)));
  const text = fc
    .oneof(
      fc.string(),
      json(right).map(({ body }) => String(body).slice(0, -1)),
    )
    .map((each) => typed(each));
  return fc.oneof(
    { weight: 10, arbitrary: json(right) },
    { weight: 6, arbitrary: json(wrong) },
    json(fc.jsonValue()),
    text,
    otherType,
    nothing,
  );
}

/** A copy of a value in which one member, at any depth, is replaced, missing or added. */
function spoiled(value: unknown, at: number, other: unknown): unknown {
  if (typeof value !== 'object' || value === null) return other;
  const members = Object.entries(value);
  const [name, member] = members[at % (members.length + 1)] ?? [];
  if (name === undefined) return Array.isArray(value) ? [...value, other] : { ...value, surplus: other };
  const rest = Math.floor(at / (members.length + 1));
  if (Array.isArray(value)) return value.with(Number(name), rest % 2 ? other : spoiled(member, rest, other));
  if (rest % 3 === 0) return Object.fromEntries(members.filter(([each]) => each !== name));
  return { ...value, [name]: rest % 3 === 1 ? other : spoiled(member, rest, other) };
}

const mostItems = 4;
const mostCharacters = 300;

/** Values that fit a schema. `known` has values that are sometimes used for a field of that name. */
function fitting(schema: JsonSchema, schemas: Schemas, known: RequestOptions['known']): fc.Arbitrary<unknown> {
  const inner = (part: JsonSchema) => fitting(part, schemas, known);
  if (schema.$ref !== undefined) return inner(resolved(schema, schemas));
  const { type, anyOf, oneOf, enum: values, properties = {}, required = [] } = schema;
  if ('const' in schema) return fc.constant(schema.const);
  if (values !== undefined) return fc.constantFrom(...values);
  const choices =
    anyOf ?? oneOf ?? (Array.isArray(type) ? (type as string[]).map((each) => ({ ...schema, type: each })) : []);
  if (choices.length > 0) return fc.oneof(...choices.map(inner));
  const { minimum: min = -1_000, maximum: max = 1_000_000 } = schema;
  switch (type) {
    case 'string':
      return textOf(schema);
    case 'integer':
      return fc.integer({ min, max });
    case 'number':
      return fc.double({ min, max, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array': {
      const { prefixItems, items } = schema;
      if (prefixItems !== undefined) return fc.tuple(...prefixItems.map(inner));
      const minLength = schema.minItems ?? 0;
      const maxLength = Math.max(minLength, Math.min(schema.maxItems ?? mostItems, mostItems));
      return fc.array(inner(items === undefined || items === false ? {} : items), { minLength, maxLength });
    }
    case 'object': {
      const members = Object.entries(properties).map(([name, part]) => {
        const names = known[name] ?? [];
        const value = inner(part);
        const isText = part.type === 'string' && names.length > 0;
        return [name, isText ? fc.oneof(fc.constantFrom(...names), value) : value] as const;
      });
      return fc.record(Object.fromEntries(members), { requiredKeys: [...required] });
    }
    default:
      return fc.jsonValue();
  }
}

function textOf({ pattern, format, minLength = 0, maxLength = mostCharacters }: JsonSchema): fc.Arbitrary<string> {
  const time = fc
    .date({ noInvalidDate: true, min: new Date(0), max: new Date('2100-01-01') })
    .map((date) => date.toISOString());
  if (format === 'date-time') return time;
  if (format === 'date') return time.map((text) => text.slice(0, 10));
  // The pattern of host names is the only one with a lookahead.
  if (pattern?.includes('(?=') === true) return fc.domain().map((name) => name.toLowerCase());
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  const most = Math.max(minLength, Math.min(maxLength, mostCharacters));
  return fc.oneof(
    fc.string({ minLength, maxLength: most }),
    fc.string({ unit: 'grapheme', minLength, maxLength: most }),
  );
}
