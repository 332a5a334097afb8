import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectOf,
  objectsOf,
  putValue,
  textOf,
} from '#shared/docs/project/json-values.ts';
import { madeExample } from './made-example.ts';
import { type Operation, resolvePointer } from './operations.ts';
import { ambiguousLeast, leastValue } from './schema-shape.ts';
import { withDefinitions } from './slice-lines.ts';

const maxValues = 20_000;
/** Maximum characters of all keys and texts of a page. A text beyond it becomes empty. */
const maxCharacters = 2_000_000;
/**
 * Maximum number of visited values. Values after the first `maxValues` are kept without their content. After this many nothing more is visited,
 * because every operation may refer to one huge list.
 */
const maxVisited = 4 * maxValues;
/**
 * Amount up to which definitions are copied whole, nearest first; later ones are copied in short form. A page has space for about forty nested
 * fields. A value counts as one, plus one for each hundred characters.
 */
const enough = 1_500;

/** The specification of one page, and the problems with its references. */
export type OperationSlice = {
  /**
   * JSON of an OpenAPI document with only this operation or schema, and the components that it reaches. Each component is in a line of its own,
   * because slices share components and parse them once.
   */
  text: string;
  /** Up to a few references without a target in the file. */
  unresolved: string[];
  /** True if it has more than 20,000 values or two million characters; the others are cut off. */
  isCut: boolean;
};

/** Makes the part of a specification for the page of an operation. */
export function sliceOperation(specification: JsonObject, operation: Operation): OperationSlice {
  const { kind, method, path, pathItem, written } = operation;
  const slicer = new Slicer(specification);
  const { servers, security } = specification;
  const head = {
    openapi: '3.1.0',
    ...(servers !== undefined && { servers: slicer.copy(servers) }),
    ...(security !== undefined && { security: slicer.copy(security) }),
  };
  const { callbacks, ...rest } = written;
  const item: JsonObject = {};
  for (const key of ['parameters', 'servers'] as const)
    if (pathItem[key] !== undefined) item[key] = slicer.copy(pathItem[key]);
  const made = slicer.copy(rest) as JsonObject;
  // Callbacks are last, because they may be long.
  if (callbacks !== undefined) made['callbacks'] = slicer.copy(callbacks);
  item[method.toLowerCase()] = made;
  const content = { [kind === 'webhook' ? 'webhooks' : 'paths']: { [path]: item } };
  return slicer.document(head, content, schemesIn(specification, written['security'] ?? security));
}

/** Makes the part of a specification for the page of a schema; undefined if there is no schema of that name. */
export function sliceSchema(specification: JsonObject, name: string): OperationSlice | undefined {
  const schemas = objectOf(objectOf(specification['components'])['schemas']);
  if (!Object.hasOwn(schemas, name)) return undefined;
  const slicer = new Slicer(specification);
  const schema = slicer.copy({ $ref: `#/components/schemas/${name.replaceAll('~', '~0').replaceAll('/', '~1')}` });
  return slicer.document({ openapi: '3.1.0' }, { 'x-bindery-schema': schema });
}

/** The security schemes that an operation names. */
function schemesIn({ components }: JsonObject, security: JsonValue | undefined): JsonObject {
  const all = objectOf(objectOf(components)['securitySchemes']);
  const named = new Set(objectsOf(security).flatMap((set) => Object.keys(set)));
  return Object.fromEntries(Object.entries(all).filter(([name]) => named.has(name)));
}

/** Copies values of a specification, and then the targets of their references, into a new document. */
export class Slicer {
  readonly #specification: JsonObject;
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();
  /** Counters that make equal names unique. */
  readonly #counts = new Map<string, number>();
  readonly #open: string[] = [];
  readonly #unresolved = new Set<string>();
  #values = 0;
  #copied = 0;
  #characters = 0;
  #isCut = false;

  constructor(specification: JsonObject) {
    this.#specification = specification;
  }

  copy(value: JsonValue): JsonValue {
    this.#values += 1;
    if (this.#values > maxValues) {
      this.#isCut = true;
      if (typeof value === 'string') return this.#text(value);
      return Array.isArray(value) ? [] : typeof value === 'object' ? {} : value;
    }
    if (Array.isArray(value)) {
      const items: JsonValue[] = [];
      for (const item of value) {
        if (this.#values > maxVisited) break;
        items.push(this.copy(item));
      }
      return items;
    }
    this.#copied += typeof value === 'string' ? 1 + value.length / 100 : 1;
    if (typeof value === 'string') return this.#text(value);
    if (!isJsonObject(value)) return value;
    const made: JsonObject = {};
    for (const [key, item] of Object.entries(value)) {
      if (this.#values > maxVisited) break;
      if (!this.#hasRoom(key)) continue;
      if (key === '$ref' && typeof item === 'string') {
        const target = this.#target(item);
        if (target !== undefined) made[key] = target;
        // A name is better than no title.
        else if (value['title'] === undefined) made['title'] = lastName(item);
      } else putValue(made, key, key === 'mapping' ? this.#mapping(item) : this.copy(item));
    }
    return made;
  }

  /** Schemas in a discriminator's mapping are copied like references. */
  #mapping(value: JsonValue): JsonValue {
    if (!isJsonObject(value)) return this.copy(value);
    const made: JsonObject = {};
    for (const [kind, name] of Object.entries(value)) {
      const reference = typeof name !== 'string' || name.startsWith('#/') ? name : `#/components/schemas/${name}`;
      const isThere = typeof reference === 'string' && resolvePointer(this.#specification, reference) !== undefined;
      putValue(made, kind, (isThere ? this.#target(reference) : undefined) ?? this.copy(name));
    }
    return made;
  }

  #text(value: string): string {
    return this.#hasRoom(value) ? value : '';
  }

  #hasRoom(text: string): boolean {
    if (this.#characters + text.length > maxCharacters) {
      this.#isCut = true;
      return false;
    }
    this.#characters += text.length;
    return true;
  }

  /** The document with its head, the copied values, and all components that they refer to. */
  document(head: JsonObject, content: JsonObject, securitySchemes?: JsonObject): OperationSlice {
    const schemes = securitySchemes && (this.copy(securitySchemes) as JsonObject);
    const definitions: string[] = [];
    // Copying adds further references while the loop runs.
    for (const reference of this.#open) {
      const target = resolvePointer(this.#specification, reference) ?? {};
      const name = this.#names.get(reference) ?? '';
      const copied = this.#copied < enough ? this.copy(target) : briefly(this.#specification, target);
      definitions.push(`${JSON.stringify(name)}:${JSON.stringify(copied)}`);
    }
    const { title, version } = objectOf(this.#specification['info']);
    const made: JsonObject = {
      ...head,
      info: { title: textOf(title) ?? '', version: textOf(version) ?? '' },
      ...content,
      components: { ...(schemes && { securitySchemes: schemes }), schemas: {} },
    };
    const text = withDefinitions(JSON.stringify(made), definitions);
    return { text, unresolved: [...this.#unresolved].slice(0, 5), isCut: this.#isCut };
  }

  /** Returns the reference in the new document; undefined if it has no target. */
  #target(reference: string): string | undefined {
    let name = this.#names.get(reference);
    if (name === undefined) {
      if (resolvePointer(this.#specification, reference) === undefined) {
        this.#unresolved.add(reference);
        return undefined;
      }
      const wanted = nameInSlice(reference);
      name = wanted;
      for (let count = this.#counts.get(wanted) ?? 2; this.#taken.has(name); count += 1) {
        name = `${wanted}-${count}`;
        this.#counts.set(wanted, count + 1);
      }
      this.#taken.add(name);
      this.#names.set(reference, name);
      this.#open.push(reference);
    }
    return `#/components/schemas/${name}`;
  }
}

const maxBriefText = 150;
const maxBriefValues = 1_000;
const longestLeast = 1_000;

/** A schema in short form: its type, title, description and values, and for examples the least value that it allows. */
function briefly(specification: JsonObject, schema: JsonValue): JsonValue {
  if (!isJsonObject(schema)) return schema;
  const { properties, items, ...rest } = schema;
  const isKept = ([key, value]: [string, JsonValue]): boolean =>
    key === 'enum'
      ? JSON.stringify(value).length < maxBriefValues
      : ((!isJsonObject(value) && !Array.isArray(value)) || key === 'type') &&
        JSON.stringify(value).length < maxBriefText;
  const plain = Object.entries(rest).filter(isKept);
  const type = properties !== undefined ? 'object' : items !== undefined ? 'array' : undefined;
  const made: JsonObject = { ...(type !== undefined && { type }), ...Object.fromEntries(plain) };
  const isWhole = type === undefined && plain.length === Object.keys(rest).length;
  return isWhole ? made : { ...made, [leastValue]: leastOf(specification, schema) };
}

const leasts = new WeakMap<JsonObject, WeakMap<JsonObject, JsonObject>>();

/** The least value by direction; missing if there is none, or only a long one. Cached, because operations of an interface share their schemas. */
function leastOf(specification: JsonObject, schema: JsonObject): JsonObject {
  let known = leasts.get(specification);
  if (known === undefined) {
    known = new WeakMap();
    leasts.set(specification, known);
  }
  let made = known.get(schema);
  if (made === undefined) {
    made = {};
    for (const use of ['request', 'response'] as const) {
      let key: string = use;
      const ambiguous = (): void => {
        key = ambiguousLeast[use];
      };
      const value = madeExample(specification, schema, use, { defaults: 'required', depth: 0 }, ambiguous);
      if (value !== undefined && JSON.stringify(value).length <= longestLeast) made[key] = value;
    }
    known.set(schema, made);
  }
  return made;
}

/**
 * Returns the same as `lastName`, with the kind of a component other than a schema: a page shows the names of schemas, and a response may have the
 * same name.
 */
const nameInSlice = (reference: string): string => {
  const kind = /^#\/components\/(\w+)\/[^/]+$/.exec(reference)?.[1];
  return kind === undefined || kind === 'schemas'
    ? lastName(reference)
    : `${kind}.${lastName(reference)}`.slice(0, 100);
};

/** `Pet` for `#/components/schemas/Pet`. */
const lastName = (reference: string): string => {
  const name = (reference.split(/[/#]/).at(-1) ?? '').replaceAll(/[^\p{L}\p{N}_.-]/gu, '-').slice(0, 100);
  return name === '' || name === '__proto__' ? 'schema' : name;
};
