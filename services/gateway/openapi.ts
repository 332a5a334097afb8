import { z } from 'zod';
import { errorCodes, errorTable, type ErrorCode } from '#shared/http/errors.ts';
import { fieldDescription } from './field-descriptions.ts';
import { type PublicRoute, publicRoute, type RouteDeclaration, routeErrors, scopeOf } from './public-route.ts';
import { type RouteExample, routeExamples } from './route-examples.ts';

/** The subset of JSON Schema that is used here. */
export type JsonSchema = {
  $schema?: string;
  $defs?: Record<string, JsonSchema>;
  type?: string;
  title?: string;
  description?: string;
  pattern?: string;
  format?: string;
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
  anyOf?: readonly JsonSchema[];
  oneOf?: readonly JsonSchema[];
  /** False for a tuple, whose members are `prefixItems`. */
  items?: JsonSchema | false;
  prefixItems?: readonly JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: readonly string[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  $ref?: string;
};

/** `x-stream`: description of a stream or page; `x-item-schema`: schema of each line or event. */
type Content = Record<
  string,
  {
    schema?: JsonSchema;
    'x-stream'?: string;
    'x-item-schema'?: JsonSchema;
    example?: unknown;
    examples?: Record<string, { value: unknown }>;
  }
>;

type Header = { description: string; required?: boolean; schema: JsonSchema; example?: string };

/** A route in the description. Fields that OpenAPI does not have begin with `x-`. */
export type Operation = {
  operationId: string;
  tags: readonly string[];
  summary: string;
  security: readonly Record<string, readonly string[]>[];
  'x-scope'?: string;
  'x-plan'?: string;
  'x-rate-limits'?: readonly string[];
  parameters: readonly {
    name: string;
    in: 'path' | 'query' | 'header';
    required: boolean;
    description?: string;
    schema: JsonSchema;
    example?: unknown;
  }[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<
    string,
    {
      description: string;
      headers: Record<string, Header | Reference>;
      content?: Content;
      'x-codes'?: readonly string[];
    }
  >;
};

type Reference = { $ref: string };

/** A description of the public interface: OpenAPI 3.1. */
export type OpenApiDocument = {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string; license: { name: string; identifier: string } };
  servers: readonly { url: string; description: string }[];
  tags: readonly { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    securitySchemes: Record<string, object>;
    headers: Record<string, Header>;
    schemas: Record<string, JsonSchema>;
  };
};

/** `GET /openapi.json`. `routes` is called at the first request, because this route is one of them. */
export function openApiRoute(routes: () => readonly PublicRoute[]): PublicRoute {
  let document: OpenApiDocument | undefined;
  return publicRoute(
    {
      id: 'describeInterface',
      method: 'GET',
      path: '/openapi.json',
      summary: 'Returns the OpenAPI description of this interface.',
      key: 'none',
      answer: z.record(z.string(), z.unknown()),
    },
    async () => (document ??= openApiDocument(routes())),
  );
}

/** Makes the description from the declarations of routes. Pure. */
export function openApiDocument(routes: readonly PublicRoute[]): OpenApiDocument {
  const schemas: Record<string, JsonSchema> = { Error: jsonSchema(errorBodySchema, 'output', {}) };
  const paths: OpenApiDocument['paths'] = {};
  for (const { declaration } of routes) {
    if (declaration.undocumented) continue;
    const path = declaration.path.replaceAll(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[declaration.method.toLowerCase()] = operation(declaration, schemas);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Bindery',
      version: '1.0.0',
      description: 'Documentation assistant and static export.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The installation that serves this description.' }],
    tags: tags.map(({ name, description }) => ({ name, description })),
    paths,
    components: {
      securitySchemes,
      headers: commonHeaders,
      schemas: Object.fromEntries(
        Object.entries(schemas).map(([name, schema]) => [name, describeFields(name, schema)]),
      ),
    },
  };
}

/** Tags of routes, in the order of our documentation, with the patterns of their paths. */
const tags = [
  {
    name: 'Content',
    of: /^\/v1\/domains\/[^/]+\/content\b/,
    description: 'Publishing docs projects, and the published content versions.',
  },
  {
    name: 'Sites',
    of: /^\/v1\/domains(?:$|\/[^/]+\/(?!content\b))/,
    description: 'Live sites of domains, their deployments and previews.',
  },
  { name: 'Static export', of: /^\/v1\/static-export\b/, description: 'A whole site as one archive.' },
  { name: 'Events', of: /^\/v1\/events\b/, description: 'Changes of exports and deployments as they happen.' },
  { name: 'Assistant', of: /^\/discovery\b/, description: 'Questions, search and pages, for documentation sites.' },
  {
    name: 'Conversations',
    of: /^\/v1\/(assistant|questions)\b/,
    description: 'Questions of readers with their answers, sources and ratings.',
  },
  { name: 'Audit and usage', of: /^\/v1\/(audit|usage|limits)\b/, description: 'Audit entries, usage and limits.' },
  { name: 'API keys', of: /^\/v1\/(api-keys|whoami)\b/, description: 'Keys of an organization, and their rights.' },
  {
    name: 'Organizations',
    of: /^\/v1\/organizations\b/,
    description: 'Organizations and their domains, for the operator.',
  },
  { name: 'Hosts of sites', of: /^\/v1\/sites\b/, description: 'What hosts and proxies of live sites ask.' },
  { name: 'Installation', of: /^\/(?!v1\/(?!installation\b)|discovery\/)/, description: 'The installation itself.' },
];

const tagOf = (path: string) => tags.find(({ of }) => of.test(path))?.name ?? '';

const header = (description: string, example: string, required = false): Header => ({
  description,
  ...(required ? { required } : {}),
  schema: { type: 'string' },
  example,
});

const commonHeaders = {
  'X-Request-Id': header('Id of the request, for questions to the operator.', 'req_3Kd9sPq0ZtVb7XyR1mNcWa', true),
  RateLimit: header(
    'Remaining requests of each limit (`r`), and the seconds until it is reset (`t`).',
    '"starts";r=59;t=3600',
  ),
  'RateLimit-Policy': header(
    'Each limit: the number of requests (`q`) in a window of seconds (`w`).',
    '"starts";q=60;w=3600',
  ),
  'Retry-After': header('Seconds after which to try again.', '5', true),
  'WWW-Authenticate': header('How to send a key (RFC 6750).', 'Bearer realm="Bindery", error="invalid_token"', true),
};

const headersOfErrors: Readonly<Record<string, readonly (keyof typeof commonHeaders)[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

const refersTo = (...names: (keyof typeof commonHeaders)[]): Record<string, Reference> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const bearer = (description: string) => ({ type: 'http', scheme: 'bearer', description });

const securitySchemes = {
  adminKey: bearer('An admin key (svc_…): secret.'),
  assistantKey: bearer('An assistant key (svc_dsc_…): public, may be in a web page.'),
  operatorToken: bearer('The operator token of the installation.'),
  siteKey: bearer('The key of a host of sites (svc_site_…): secret.'),
};

const securityOf: Record<RouteDeclaration['key'], Operation['security']> = {
  admin: [{ adminKey: [] }],
  assistant: [{ assistantKey: [] }, { adminKey: [] }],
  operator: [{ operatorToken: [] }],
  site: [{ siteKey: [] }],
  none: [],
};

const errorBodySchema = z.object({
  error: z.string().describe('The error, the field that it concerns, and how to correct it.'),
  code: z.enum(errorCodes),
  requestId: z.string(),
  fields: z
    .array(z.object({ path: z.string(), message: z.string() }))
    .optional()
    .describe('Only for `invalid_request`: the wrong fields, each with its error.'),
});

/** The scope that opens a route, and its alternative. Pure. */
function neededScope({ method, scope = scopeOf(method), forExports }: RouteDeclaration): string {
  return forExports ? `${scope} or export` : scope;
}

function operation(declaration: RouteDeclaration, schemas: Record<string, JsonSchema>): Operation {
  const { id, path, summary, key, params, query, headers, body, status = 200 } = declaration;
  const example = routeExamples[id] ?? {};
  const counted = declaration.limits === undefined ? {} : refersTo('RateLimit', 'RateLimit-Policy');
  return {
    operationId: id,
    tags: [tagOf(path)],
    summary,
    security: securityOf[key],
    ...(key === 'admin' || key === 'assistant' ? { 'x-scope': neededScope(declaration) } : {}),
    ...(declaration.plan === undefined ? {} : { 'x-plan': declaration.plan }),
    ...(declaration.limits === undefined ? {} : { 'x-rate-limits': declaration.limits.map(({ name }) => name) }),
    parameters: [
      ...fieldsOf(id, params, schemas, example.params).map((field) => ({ ...field, in: 'path' as const })),
      ...fieldsOf(id, query, schemas, example.query).map((field) => ({ ...field, in: 'query' as const })),
      ...fieldsOf(id, headers, schemas, example.headers).map((field) => ({ ...field, in: 'header' as const })),
    ],
    ...(body === undefined ? {} : { requestBody: requestBody(body, schemas, example) }),
    responses: {
      [status]: success(declaration, schemas, example, counted),
      ...withProtocol(declaration, errorResponses(routeErrors(declaration), counted), schemas, counted),
    },
  };
}

/** The members of an object, as parameters. */
function fieldsOf(
  operationId: string,
  schema: z.ZodType | undefined,
  schemas: Record<string, JsonSchema>,
  examples: Readonly<Record<string, unknown>> = {},
) {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = resolved(jsonSchema(schema, 'input', schemas), schemas);
  return Object.entries(properties).map(
    ([name, { description = fieldDescription(operationId, [name]), ...field }]) => ({
      name,
      required: required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: field,
      ...(name in examples ? { example: examples[name] } : {}),
    }),
  );
}

/** The schema that a reference names; a schema that is not a reference is returned unchanged. Pure. */
export function resolved(schema: JsonSchema, schemas: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const name = schema.$ref?.slice('#/components/schemas/'.length);
  return name === undefined ? schema : (schemas[name] ?? {});
}

/** Adds descriptions to the fields of a schema that have none, also to nested ones. A part with a name of its own is described under that name. */
function describeFields(owner: string, schema: JsonSchema, names: readonly string[] = []): JsonSchema {
  const within = (part: JsonSchema) => describeFields(owner, part, names);
  const { properties, items, anyOf, oneOf } = schema;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => {
          const place = [...names, name];
          const description = field.description ?? fieldDescription(owner, place);
          return [name, { ...describeFields(owner, field, place), ...(description !== undefined && { description }) }];
        }),
      ),
    }),
    ...(items && { items: within(items) }),
    ...(anyOf && { anyOf: anyOf.map(within) }),
    ...(oneOf && { oneOf: oneOf.map(within) }),
  };
}

function requestBody(
  body: NonNullable<RouteDeclaration['body']>,
  schemas: Record<string, JsonSchema>,
  { body: example }: RouteExample,
) {
  if (body === 'archive') return { required: true, content: { 'application/gzip': {} } };
  const schema = body instanceof z.ZodType ? body : body.passedOn;
  const required = !schema.safeParse(undefined).success;
  return { required, content: { 'application/json': { schema: jsonSchema(schema, 'input', schemas), example } } };
}

function success(
  { answer, alsoAs = {}, answerHeaders = {}, crossOrigin }: RouteDeclaration,
  schemas: Record<string, JsonSchema>,
  example: RouteExample,
  counted: Record<string, Reference>,
) {
  const json = answer && {
    'application/json': { schema: jsonSchema(answer, 'output', schemas), example: example.answer },
  };
  const streams = Object.entries(alsoAs).map(([type, { description, item }]) => [
    type,
    {
      // A schema is left out, because some clients take it for the schema of one event.
      'x-stream': description,
      ...(item === undefined ? {} : { 'x-item-schema': jsonSchema(item, 'output', schemas) }),
      example: example.streams?.[type],
    },
  ]);
  const content: Content = { ...json, ...Object.fromEntries(streams) };
  const own = Object.entries(answerHeaders).map(([name, description]): [string, Header] => [
    name,
    header(description, example.answerHeaders?.[name] ?? ''),
  ]);
  return {
    description: Object.keys(content).length === 0 ? 'Done. There is no body.' : 'Done.',
    headers: {
      ...refersTo('X-Request-Id'),
      ...counted,
      ...Object.fromEntries(own),
      ...(crossOrigin
        ? { 'Access-Control-Allow-Origin': header('`*`, or the origin if the key has allowed origins.', '*', true) }
        : {}),
    },
    ...(Object.keys(content).length === 0 ? {} : { content }),
  };
}

function errorResponses(codes: readonly ErrorCode[], counted: Record<string, Reference>): Operation['responses'] {
  const byStatus = Object.entries(Object.groupBy(codes, (code) => String(errorTable[code].status)));
  return Object.fromEntries(
    byStatus.map(([status, ofStatus = []]) => [
      status,
      {
        description: ofStatus.map((code) => `\`${code}\`: ${errorTable[code].sentence}`).join(' '),
        headers: {
          ...refersTo('X-Request-Id', ...(headersOfErrors[status] ?? [])),
          ...(status === '429' ? counted : {}),
        },
        'x-codes': ofStatus,
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Error' },
            examples: Object.fromEntries(ofStatus.map((code) => [code, { value: errorExample(code) }])),
          },
        },
      },
    ]),
  );
}

/** Adds the answers of the route that have the form of another protocol to its responses. */
function withProtocol(
  { ofProtocol = {} }: RouteDeclaration,
  responses: Operation['responses'],
  schemas: Record<string, JsonSchema>,
  counted: Record<string, Reference>,
): Operation['responses'] {
  const added = Object.entries(ofProtocol).map(([status, { description, schema }]) => {
    const own = schema && jsonSchema(schema, 'output', schemas);
    const usual = responses[status];
    const [error] = Object.values(usual?.content ?? {});
    const { 'x-codes': _, ...rest } = usual ?? {
      description: '',
      headers: { ...refersTo('X-Request-Id'), ...counted },
    };
    const form = error?.schema === undefined ? own : own && { anyOf: [error.schema, own] };
    const response = {
      ...rest,
      description: `${rest.description} ${description}`.trim(),
      ...(form && { content: { 'application/json': { ...error, schema: form } } }),
    };
    return [status, response] as const;
  });
  return { ...responses, ...Object.fromEntries(added) };
}

function errorExample(code: ErrorCode): z.infer<typeof errorBodySchema> {
  const body = { code, requestId: 'req_3Kd9sPq0ZtVb7XyR1mNcWa' };
  if (code !== 'invalid_request') return { error: errorTable[code].sentence, ...body };
  const fields = [{ path: 'domain', message: 'is missing' }];
  return { error: 'The field "domain" is missing.', ...body, fields };
}

/** A zod schema as JSON Schema. Its named parts (with a title such as `ExportJob`) are put into `schemas`, the components of the document. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output', schemas: Record<string, JsonSchema>): JsonSchema {
  const made = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // The format is enough; the pattern also encodes leap years.
      if (jsonSchema.format === 'date-time' || jsonSchema.format === 'date') delete jsonSchema.pattern;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  const text = JSON.stringify(made).replaceAll('"#/$defs/__schema0"', '"#/components/schemas/Json"');
  const { $schema: _, $defs = {}, ...rest } = JSON.parse(text) as JsonSchema;
  // The schema of any JSON value refers to itself, which generators of types cannot follow.
  if (Object.keys($defs).length > 0) schemas.Json = { description: 'Any JSON value.' };
  return withNamedParts(rest, schemas) as JsonSchema;
}

const isName = (title: unknown): title is string => typeof title === 'string' && /^[A-Z]\w+$/.test(title);

function withNamedParts(value: unknown, schemas: Record<string, JsonSchema>): unknown {
  if (Array.isArray(value)) return value.map((each) => withNamedParts(each, schemas));
  if (typeof value !== 'object' || value === null) return value;
  const part = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withNamedParts(each, schemas)]));
  if (!isName(part.title)) return part;
  schemas[part.title] = part;
  return { $ref: `#/components/schemas/${part.title}` };
}
