import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { numberOf } from '#shared/docs/project/exact-numbers.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectOf,
  ownValue,
  textsOf,
} from '#shared/docs/project/json-values.ts';
import { type ExampleFields, madeExample } from '#shared/docs/reference/made-example.ts';
import { entriesOf, openSlice, parametersOf, resolved } from '#shared/docs/reference/open-slice.ts';
import { type Operation, operationsOf } from '#shared/docs/reference/operations.ts';
import { parseSpecification } from '#shared/docs/reference/parse-specification.ts';
import type { Direction } from '#shared/docs/reference/schema-fits.ts';
import { sliceOperation, sliceSchema } from '#shared/docs/reference/slice-operation.ts';

/** The settings of all examples that the renderer generates: for the request, its answers and the form that sends it. */
const asked: ExampleFields[] = [
  {},
  { defaults: 'all' },
  { defaults: 'required' },
  { depth: 3 },
  { depth: 2 },
  { depth: 1 },
  { defaults: 'required', depth: 3 },
  { defaults: 'required', depth: 1 },
  { defaults: 'required', depth: 0 },
];

export type ExampleCheck = {
  /** Number of examples that were compared with their schemas. */
  count: number;
  /** Invalid examples, each with its place and the message of the validator. */
  invalid: { place: string; example: string; errors: string }[];
  /** Schemas without an example. */
  unmade: { place: string; schema: string }[];
  /** Schemas that the validator does not support. */
  unread: { place: string; error: string }[];
};

/**
 * Makes the examples of each operation and each schema of an API description as its pages do, from the slice of the page, and compares each with its
 * schema in the whole description.
 */
export function checkExamples(bytes: Uint8Array, file: string): ExampleCheck {
  const specification = parseSpecification(bytes, file);
  const validators = new Validators(specification);
  const result: ExampleCheck = { count: 0, invalid: [], unmade: [], unread: [] };
  const seen = new Set<string>();

  const check = (place: string, whole: JsonValue, document: JsonObject, part: JsonValue, use: Direction): void => {
    for (const fields of asked) {
      const made = madeExample(document, part, use, fields);
      if (made === undefined) {
        result.unmade.push({ place, schema: JSON.stringify(whole).slice(0, 1_000) });
        return;
      }
      const example = JSON.stringify(made);
      const key = `${use} ${JSON.stringify(whole)} ${example}`;
      if (seen.has(key)) continue;
      seen.add(key);
      result.count += 1;
      try {
        const validate = validators.of(whole, use);
        if (validate(JSON.parse(example))) continue;
        const errors = JSON.stringify(
          validate.errors?.slice(0, 6).map(({ instancePath, message, params }) => [instancePath, message, params]),
        );
        result.invalid.push({ place, example: example.slice(0, 1_500), errors: errors.slice(0, 1_500) });
      } catch (error) {
        result.unread.push({ place, error: String(error).slice(0, 300) });
      }
    }
  };

  for (const operation of operationsOf(specification)) {
    const slice = openSlice(sliceOperation(specification, operation).text);
    if (slice?.operation === undefined) continue;
    const [parts, wholes] = [exchanged(slice.document, slice.operation), exchanged(specification, operation)];
    for (const [place, { schema, use }] of wholes) {
      const part = parts.get(place);
      if (part !== undefined)
        check(`${operation.method} ${operation.path} ${place}`, schema, slice.document, part.schema, use);
    }
  }
  for (const name of Object.keys(objectOf(objectOf(specification['components'])['schemas']))) {
    const slice = openSlice(sliceSchema(specification, name)?.text ?? '');
    if (slice?.schema === undefined) continue;
    const whole = { $ref: `#/components/schemas/${name.replaceAll('~', '~0').replaceAll('/', '~1')}` };
    for (const use of ['request', 'response'] as const)
      check(`schema ${name}`, whole, slice.document, slice.schema, use);
  }
  return result;
}

/** Schemas of an operation's input and output, by their places. */
function exchanged(document: JsonObject, operation: Operation): Map<string, { schema: JsonValue; use: Direction }> {
  const found = new Map<string, { schema: JsonValue; use: Direction }>();
  const add = (place: string, media: JsonObject, use: Direction): void => {
    if (media['schema'] !== undefined) found.set(`${place} ${use}`, { schema: media['schema'], use });
  };
  const content = (place: string, holder: JsonObject, use: Direction): void => {
    for (const [type, media] of entriesOf(holder['content']))
      add(`${place} ${type}`, resolved(document, media).value, use);
  };
  const { written } = operation;
  for (const parameter of parametersOf({ document, operation, schema: undefined }, operation)) {
    const place = `${JSON.stringify(parameter['in'])} ${JSON.stringify(parameter['name'])}`;
    add(place, parameter, 'request');
    content(place, parameter, 'request');
  }
  content('body', resolved(document, written['requestBody']).value, 'request');
  for (const [status, answer] of entriesOf(written['responses'])) {
    const { value } = resolved(document, answer);
    content(status, value, 'response');
    for (const [name, header] of entriesOf(value['headers']))
      add(`${status} ${name}`, resolved(document, header).value, 'response');
  }
  return found;
}

/** Validators of the schemas of a description, in the dialect of JSON Schema 2020-12. */
class Validators {
  readonly #ajv: Record<Direction, Ajv2020>;
  readonly #documents: Record<Direction, Dialect>;
  readonly #made = new Map<string, ValidateFunction>();

  constructor(specification: JsonObject) {
    const [request, response] = (['request', 'response'] as const).map((use) => new Dialect(specification, use));
    this.#documents = { request, response } as Record<Direction, Dialect>;
    this.#ajv = { request: validatorOf(request), response: validatorOf(response) };
  }

  of(schema: JsonValue, use: Direction): ValidateFunction {
    const key = `${use} ${JSON.stringify(schema)}`;
    let made = this.#made.get(key);
    if (made === undefined) {
      made = this.#ajv[use].compile(this.#documents[use].schema(schema) as JsonObject);
      this.#made.set(key, made);
    }
    return made;
  }
}

function validatorOf(dialect: Dialect | undefined): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, logger: false, unicodeRegExp: false, validateFormats: true });
  (addFormats as unknown as (to: Ajv2020) => void)(ajv);
  ajv.addSchema({ $id: 'https://description.example', ...dialect?.components() });
  return ajv;
}

const keysOfSchema =
  'additionalProperties unevaluatedProperties unevaluatedItems items contains not if then else propertyNames'.split(
    ' ',
  );
const keysOfSchemas = 'properties patternProperties dependentSchemas'.split(' ');
const keysOfLists = 'allOf anyOf oneOf prefixItems'.split(' ');
const notKept = new Set(
  'example examples default discriminator xml externalDocs $schema $id id nullable readOnly writeOnly required'.split(
    ' ',
  ),
);

/**
 * Converts schemas of OpenAPI 3.0 and of draft 4 to 2020-12, and removes from `required` the properties that are not sent in a direction. A reference
 * leads to a schema of `$defs`.
 */
class Dialect {
  readonly #specification: JsonObject;
  readonly #unsent: string;
  readonly #hasSiblings: boolean;
  readonly #definitions: JsonObject = {};
  readonly #open: string[] = [];
  readonly #names = new Map<string, string>();

  constructor(specification: JsonObject, use: Direction) {
    this.#specification = specification;
    this.#unsent = use === 'request' ? 'readOnly' : 'writeOnly';
    this.#hasSiblings = !/^(?:2|3\.0)/.test(JSON.stringify(specification['openapi'] ?? '').replaceAll('"', ''));
  }

  components(): JsonObject {
    const schemas = Object.keys(objectOf(objectOf(this.#specification['components'])['schemas']));
    for (const name of schemas)
      this.#reference(`#/components/schemas/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
    this.#follow();
    return { $defs: this.#definitions };
  }

  schema(written: JsonValue): JsonValue {
    const made = this.#schema(written);
    this.#follow();
    return {
      allOf: [made],
      $defs: { ...this.#definitions },
    };
  }

  #follow(): void {
    for (let next = this.#open.pop(); next !== undefined; next = this.#open.pop()) {
      const name = this.#names.get(next) ?? '';
      this.#definitions[name] = true;
      this.#definitions[name] = this.#schema(targetOf(this.#specification, next));
    }
  }

  #reference(reference: string): string {
    let name = this.#names.get(reference);
    if (name === undefined) {
      name = `s${this.#names.size}`;
      this.#names.set(reference, name);
      this.#open.push(reference);
    }
    return `#/$defs/${name}`;
  }

  #schema(written: JsonValue | undefined): JsonValue {
    if (written === false) return false;
    if (!isJsonObject(written)) return true;
    const made: JsonObject = {};
    for (const [key, value] of Object.entries(written)) {
      if (notKept.has(key) || key.startsWith('x-') || (key.startsWith('$') && key !== '$ref')) continue;
      if (key === '$ref' && typeof value === 'string') made[key] = this.#reference(value);
      else if (typeof written['$ref'] === 'string' && !this.#hasSiblings) continue;
      else if (key === 'items' && Array.isArray(value)) made['prefixItems'] = value.map((item) => this.#schema(item));
      else if (key === 'additionalItems') made['items'] = this.#schema(value);
      else if (keysOfSchema.includes(key)) made[key] = this.#schema(value);
      else if (keysOfLists.includes(key) && Array.isArray(value)) {
        // A discriminator alone decides the variant, even if a value fits other ones, too.
        const kind = key === 'oneOf' && written['discriminator'] !== undefined ? 'anyOf' : key;
        if (value.length > 0) made[kind] = value.map((item) => this.#schema(item));
      } else if (keysOfSchemas.includes(key))
        made[key] = Object.fromEntries(
          Object.entries(objectOf(value)).map(([name, item]) => [name, this.#schema(item)]),
        );
      else if (key !== 'type' || value !== 'file') made[key] = JSON.parse(JSON.stringify(value)) as JsonValue;
    }
    for (const [exclusive, bound] of [
      ['exclusiveMinimum', 'minimum'],
      ['exclusiveMaximum', 'maximum'],
    ] as const) {
      if (typeof made[exclusive] !== 'boolean') continue;
      const limit = numberOf(written[bound]);
      if (made[exclusive] && limit !== undefined) made[exclusive] = limit;
      else delete made[exclusive];
    }
    const properties = objectOf(written['properties']);
    const required = textsOf(written['required']).filter((name) => {
      return resolved(this.#specification, ownValue(properties, name)).value[this.#unsent] !== true;
    });
    if (required.length > 0) made['required'] = [...new Set(required)];
    return written['nullable'] === true ? { anyOf: [made, { type: 'null' }] } : made;
  }
}

const targetOf = (document: JsonObject, reference: string): JsonValue | undefined => {
  if (!reference.startsWith('#/')) return undefined;
  let found: JsonValue | undefined = document;
  for (const part of reference.slice(2).split('/')) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    found = Array.isArray(found) ? found[Number(name)] : ownValue(objectOf(found), name);
  }
  return found;
};
