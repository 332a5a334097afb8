import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { JsonSchema, OpenApiDocument, Operation } from '#services/gateway/openapi.ts';

/** An answer as a client received it; `body` is undefined when it was not read. */
type GottenAnswer = { status: number; headers: Headers; body: string | undefined };

export type Description = {
  operations: ReadonlyMap<string, Operation & { method: string; path: string }>;
  /** Problems of a value with respect to a schema of the description; empty when it is valid. */
  problemsOf: (schema: JsonSchema, value: unknown) => string[];
  /** Problems of an answer to an operation. */
  problemsOfAnswer: (operation: Operation, answer: GottenAnswer) => string[];
};

/** Compares values and answers with a description, like a client that knows only the description. */
export function readDescription(document: OpenApiDocument): Description {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema(document, 'description');
  const validators = new Map<JsonSchema, ReturnType<typeof ajv.compile>>();
  const problemsOf = (schema: JsonSchema, value: unknown): string[] => {
    let validate = validators.get(schema);
    if (validate === undefined) {
      const text = JSON.stringify(schema).replaceAll('"$ref":"#', '"$ref":"description#');
      validators.set(schema, (validate = ajv.compile(JSON.parse(text))));
    }
    return validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
  };
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => [operation.operationId, { ...operation, method: method.toUpperCase(), path }] as const,
    ),
  );
  return {
    operations: new Map(operations),
    problemsOf,
    problemsOfAnswer(operation, { status, headers, body }) {
      const described = operation.responses[status];
      if (described === undefined) return [`answers ${status}`];
      const missing = Object.entries(described.headers).flatMap(([name, header]) => {
        const known = '$ref' in header ? document.components.headers[header.$ref.split('/').at(-1) ?? ''] : header;
        return known?.required === true && !headers.has(name) ? [`${status} has no ${name}`] : [];
      });
      const { content } = described;
      if (content === undefined) return body ? [...missing, `${status} has a body`] : missing;
      const type = headers.get('content-type')?.split(';')[0] ?? 'none';
      const form = content[type];
      if (form === undefined) return [...missing, `${status} has the type ${type}`];
      const { schema = {}, 'x-item-schema': item } = form;
      if (body === undefined) return missing;
      if (type !== 'application/json') {
        return [...missing, ...(item === undefined ? [] : itemsOf(body).flatMap((each) => problemsOf(item, each)))];
      }
      const value = JSON.parse(body);
      const codes = described['x-codes'];
      const wrongCode =
        codes === undefined || codes.includes(value.code) ? [] : [`${status} has the code ${value.code}`];
      return [...missing, ...wrongCode, ...problemsOf(schema, value)];
    },
  };
}

/** The JSON of the lines of NDJSON, or of the events of a stream. */
export const itemsOf = (text: string): unknown[] =>
  text.split('\n').flatMap((line): unknown[] => {
    const json = /^(?:data: )?(\{.*)$/.exec(line)?.[1];
    return json === undefined ? [] : [JSON.parse(json)];
  });
