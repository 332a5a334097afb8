import { z } from 'zod';
import { errorCodes, errorTable, type ErrorCode } from '#shared/http/errors.ts';
import { type PublicRoute, publicRoute, type RouteDeclaration, routeErrors, scopeOf } from './public-route.ts';

/** What we use of JSON Schema. */
export type JsonSchema = {
  $schema?: string;
  $defs?: Record<string, JsonSchema>;
  type?: string;
  description?: string;
  format?: string;
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
  anyOf?: readonly JsonSchema[];
  oneOf?: readonly JsonSchema[];
  items?: JsonSchema;
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

type Content = Record<string, { schema?: JsonSchema }>;

/** A route as the description has it. What OpenAPI has no field for begins with `x-`. */
export type Operation = {
  summary: string;
  security: readonly Record<string, readonly string[]>[];
  'x-scope'?: string;
  'x-plan'?: string;
  'x-rate-limits'?: readonly string[];
  parameters: readonly { name: string; in: 'path' | 'query' | 'header'; required: boolean; schema: JsonSchema }[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, { description: string; content?: Content; 'x-codes'?: readonly string[] }>;
};

/** A description of the public interface: OpenAPI 3.1. */
export type OpenApiDocument = {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string };
  paths: Record<string, Record<string, Operation>>;
  components: { securitySchemes: Record<string, object>; schemas: Record<string, JsonSchema> };
};

/** `GET /openapi.json`. `routes` is called at the first request, because this route is one of them. */
export function openApiRoute(routes: () => readonly PublicRoute[]): PublicRoute {
  let document: OpenApiDocument | undefined;
  return publicRoute(
    {
      method: 'GET',
      path: '/openapi.json',
      summary: 'Describes this interface.',
      key: 'none',
      answer: z.record(z.string(), z.unknown()),
    },
    async () => (document ??= openApiDocument(routes())),
  );
}

/** Makes the description from what routes declare. Pure. */
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
    },
    paths,
    components: { securitySchemes, schemas },
  };
}

const bearer = (description: string) => ({ type: 'http', scheme: 'bearer', description });

const securitySchemes = {
  adminKey: bearer('An admin key (svc_…): secret.'),
  assistantKey: bearer('An assistant key (svc_dsc_…): public, may stand in a web page.'),
  operatorToken: bearer('The operator token of the installation.'),
};

const securityOf: Record<RouteDeclaration['key'], Operation['security']> = {
  admin: [{ adminKey: [] }],
  assistant: [{ assistantKey: [] }, { adminKey: [] }],
  operator: [{ operatorToken: [] }],
  none: [],
};

const errorBodySchema = z.object({
  error: z.string().describe('What is wrong, with which field, and what to do.'),
  code: z.enum(errorCodes),
  requestId: z.string(),
  fields: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
});

function operation(declaration: RouteDeclaration, schemas: Record<string, JsonSchema>): Operation {
  const { summary, key, params, query, headers, body, status = 200 } = declaration;
  return {
    summary,
    security: securityOf[key],
    ...(key === 'admin' || key === 'assistant' ? { 'x-scope': declaration.scope ?? scopeOf(declaration.method) } : {}),
    ...(declaration.plan === undefined ? {} : { 'x-plan': declaration.plan }),
    ...(declaration.limits === undefined ? {} : { 'x-rate-limits': declaration.limits.map(({ name }) => name) }),
    parameters: [
      ...fieldsOf(params, schemas).map((field) => ({ ...field, in: 'path' as const })),
      ...fieldsOf(query, schemas).map((field) => ({ ...field, in: 'query' as const })),
      ...fieldsOf(headers, schemas).map((field) => ({ ...field, in: 'header' as const })),
    ],
    ...(body === undefined ? {} : { requestBody: requestBody(body, schemas) }),
    responses: { [status]: success(declaration, schemas), ...errorResponses(routeErrors(declaration)) },
  };
}

/** The members of an object, as parameters. */
function fieldsOf(schema: z.ZodType | undefined, schemas: Record<string, JsonSchema>) {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = jsonSchema(schema, 'input', schemas);
  return Object.entries(properties).map(([name, field]) => ({
    name,
    required: required.includes(name),
    schema: field,
  }));
}

function requestBody(body: NonNullable<RouteDeclaration['body']>, schemas: Record<string, JsonSchema>) {
  if (body === 'archive') return { required: true, content: { 'application/gzip': {} } };
  const schema = body instanceof z.ZodType ? body : body.passedOn;
  const required = !schema.safeParse(undefined).success;
  return { required, content: { 'application/json': { schema: jsonSchema(schema, 'input', schemas) } } };
}

function success({ answer, alsoAs = {} }: RouteDeclaration, schemas: Record<string, JsonSchema>) {
  const content = {
    ...(answer === undefined ? {} : { 'application/json': { schema: jsonSchema(answer, 'output', schemas) } }),
    ...Object.fromEntries(
      Object.entries(alsoAs).map(([type, description]) => [type, { schema: { type: 'string', description } }]),
    ),
  };
  return { description: 'Done.', ...(Object.keys(content).length === 0 ? {} : { content }) };
}

function errorResponses(codes: readonly ErrorCode[]): Operation['responses'] {
  const byStatus = Object.entries(Object.groupBy(codes, (code) => String(errorTable[code].status)));
  return Object.fromEntries(
    byStatus.map(([status, ofStatus = []]) => [
      status,
      {
        description: ofStatus.map((code) => `\`${code}\`: ${errorTable[code].sentence}`).join(' '),
        'x-codes': ofStatus,
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    ]),
  );
}

/** A schema of ours as JSON Schema. Parts that it refers to are put into `schemas`, the components of the document. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output', schemas: Record<string, JsonSchema>): JsonSchema {
  const made = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  const prefix = `Part${Object.keys(schemas).length}`;
  const text = JSON.stringify(made).replaceAll('"#/$defs/', `"#/components/schemas/${prefix}`);
  const { $schema: _, $defs = {}, ...rest } = JSON.parse(text) as JsonSchema;
  for (const [name, part] of Object.entries($defs)) schemas[prefix + name] = part;
  return rest;
}
