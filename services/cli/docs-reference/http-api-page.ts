import { type JsonSchema, openApiDocument, type Operation, resolved } from '#services/gateway/openapi.ts';
import { publicRoutes } from '#services/gateway/build-gateway.ts';
import { code, markdownTable, page, textWithCode } from './markdown.ts';

const { paths, components } = openApiDocument(publicRoutes);
const whole = (schema: JsonSchema) => resolved(schema, components.schemas);

export function httpApiPage(): string {
  const sections = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => section(`${method.toUpperCase()} ${path}`, operation)),
  );
  return page(
    'HTTP interface',
    'Every route, with its key, parameters, bodies, answers and errors.',
    'Every installation serves this description as OpenAPI 3.1 at `/openapi.json`. [Errors](/reference/errors) explains the codes.',
    ...sections,
  );
}

const keyNames: Record<string, string> = {
  adminKey: 'an admin key',
  assistantKey: 'an assistant key',
  operatorToken: 'the operator token',
};

function section(title: string, operation: Operation): string {
  const rows = [
    ...operation.parameters.map(({ name, in: place, required, schema }) => [
      code(name),
      place,
      required ? 'yes' : 'no',
      typeOf(schema),
    ]),
    ...Object.entries(operation.requestBody?.content ?? {}).flatMap(([type, { schema }]) =>
      schema === undefined ? [[code(type), 'body', 'yes', 'the file']] : fieldRows(whole(schema), 'body'),
    ),
  ];
  return [
    `## ${title.replaceAll(/[{}]/g, String.raw`\$&`)}`,
    textWithCode(operation.summary),
    needs(operation),
    ...(rows.length === 0 ? [] : [markdownTable(['field', 'in', 'required', 'type'], rows)]),
    answers(operation),
  ].join('\n\n');
}

function needs(operation: Operation): string {
  const keys = operation.security.flatMap((one) => Object.keys(one).map((name) => keyNames[name] ?? name));
  const limits = operation['x-rate-limits'] ?? [];
  return [
    keys.length === 0 ? 'Needs no key.' : `Needs ${keys.join(' or ')}.`,
    operation['x-scope'] === undefined ? '' : `Scope: ${code(operation['x-scope'])}.`,
    operation['x-plan'] === undefined ? '' : `Plan: ${code(operation['x-plan'])}.`,
    limits.length === 0 ? '' : `Counts against the limits: ${limits.map(code).join(', ')}.`,
  ]
    .filter((text) => text !== '')
    .join(' ');
}

function answers({ responses }: Operation): string {
  const rows = Object.entries(responses).map(([status, { content = {}, 'x-codes': codes }]) => [
    status,
    codes === undefined
      ? Object.entries(content)
          .map(
            ([type, { schema, 'x-stream': stream }]) =>
              `${code(type)}: ${stream === undefined ? answerText(schema) : textWithCode(stream.replace(/\.$/, ''))}`,
          )
          .join('. ') || 'no body'
      : codes.map(code).join(', '),
  ]);
  return markdownTable(['status', 'answer'], rows);
}

function answerText(named: JsonSchema = {}): string {
  const schema = whole(named);
  const names = Object.keys(schema.properties ?? {});
  if (names.length > 0) return names.map(code).join(', ');
  return schema.description === undefined ? typeOf(schema) : textWithCode(schema.description.replace(/\.$/, ''));
}

function fieldRows({ properties = {}, required = [] }: JsonSchema, place: string): string[][] {
  return Object.entries(properties).map(([name, field]) => [
    code(name),
    place,
    required.includes(name) ? 'yes' : 'no',
    typeOf(field),
  ]);
}

/** Name and bounds of a type, as a phrase. */
function typeOf(schema: JsonSchema): string {
  const { enum: values, const: value, anyOf, oneOf, items, type, format } = schema;
  const variants = anyOf ?? oneOf;
  if (schema.$ref !== undefined) return typeOf(whole(schema));
  if (value !== undefined) return code(JSON.stringify(value));
  const byDefault = schema.default === undefined ? undefined : `default ${code(JSON.stringify(schema.default))}`;
  if (values !== undefined) {
    return values.map((one) => code(String(one))).join(', ') + (byDefault === undefined ? '' : ` (${byDefault})`);
  }
  if (variants !== undefined) return [...new Set(variants.map(typeOf))].filter((text) => text !== 'null').join(' or ');
  const kind = type === 'array' ? `list of ${typeOf(items ?? {})}` : (type ?? 'any');
  const bounds = [
    format,
    boundsText('', schema.minimum, schema.maximum),
    boundsText(' characters', schema.minLength, schema.maxLength),
    boundsText(' items', schema.minItems, schema.maxItems),
    byDefault,
  ].filter((text) => text !== undefined);
  return bounds.length === 0 ? kind : `${kind} (${bounds.join(', ')})`;
}

function boundsText(unit: string, least: number | undefined, most: number | undefined): string | undefined {
  const isBound = (bound: number | undefined) => bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER;
  if (isBound(least) && isBound(most)) return `${least}–${most}${unit}`;
  if (isBound(most)) return `at most ${most}${unit}`;
  return isBound(least) && least !== 0 ? `at least ${least}${unit}` : undefined;
}
