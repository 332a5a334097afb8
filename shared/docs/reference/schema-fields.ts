import type { Nodes, PhrasingContent } from 'mdast';
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '#shared/docs/project/json-values.ts';
import type { ParseOptions } from '#shared/docs/project/parse-page.ts';
import type { StaticElement } from '#shared/docs/render/evaluate/static-tree.ts';
import type { InterfaceTexts } from '#shared/docs/render/interface-texts/interface-texts.ts';
import { RecentValues } from '#shared/docs/render/recent-values.ts';
import { descriptionNodes } from './description-nodes.ts';
import { nameOfReference, type OpenSlice, shownValue } from './open-slice.ts';
import type { ParamSettings } from './page-reference.ts';
import { code as plainCode, element, text } from './reference-nodes.ts';
import { nameOf, type Property, type Shape, shapeOf } from './schema-shape.ts';

const maxDepth = 8;
/** Numbers of fields on a page from which no more fields are shown at each depth, so that deep fields leave space for shallow ones. */
const fieldsAtDepth = [300, 42, 32, 26] as const;
const fieldsDeeper = 20;
/** Maximum number of alternatives on a page, because each may have alternatives again. */
const maxOptions = 400;
/** Maximum number of names in the line that lists fields without space. */
const maxNamed = 20;
const maxValues = 60;
const longestValue = 120;

const code = (value: string): PhrasingContent => plainCode(shortened(value));

/** A field to show: a parameter, a property, a header. */
export type FieldInput = {
  name: string;
  /** Id of the field on the page. */
  id: string;
  schema: JsonValue | undefined;
  isRequired: boolean;
  isDeprecated?: boolean;
  description?: string | undefined;
  example?: JsonValue | undefined;
};

type FieldKind = 'ParamField' | 'ResponseField';

export type FieldOptions = { texts: InterfaceTexts; parser: ParseOptions['parser']; params?: ParamSettings };

/**
 * Writes the fields of a page, with their shared state. `use`: a request has no read-only fields, a response no write-only ones; the page of a schema
 * has both.
 */
export class SchemaFields {
  readonly #document: JsonObject;
  readonly #texts: InterfaceTexts;
  readonly #parser: ParseOptions['parser'];
  readonly #params: ParamSettings;
  readonly #hasSides: boolean;
  /** Ids of the places on the page where named schemas are shown with their members. */
  readonly #shownAt = new Map<string, string>();
  #fields = 0;
  #options = 0;

  constructor({ document, hasSides = true }: Pick<OpenSlice, 'document' | 'hasSides'>, options: FieldOptions) {
    const { texts, parser, params = {} } = options;
    this.#document = document;
    this.#hasSides = hasSides;
    this.#texts = texts;
    this.#parser = parser;
    this.#params = params;
    this.#leaves = leavesFor(texts, `${parser} ${JSON.stringify(params)}`);
  }

  /** Cache of elements of fields without nested content, for all pages. */
  readonly #leaves: Leaves;

  #shape(schema: JsonValue | undefined): Shape {
    return shapeOf(this.#document, schema);
  }

  /** A field with its nested content. */
  field(kind: FieldKind, input: FieldInput, use: FieldUse, inside: Inside = outermost): StaticElement {
    this.#fields += 1;
    const { id, schema } = input;
    if (!isLeaf(schema)) return this.#field(kind, input, use, inside);
    const made = this.#leaf(kind, input, schema, use, inside);
    return made.alike === undefined ? { ...made, props: new Map(made.props).set('id', id) } : { ...made, id };
  }

  /** Looks up a field by the schema object, which pages share, and by its text. */
  #leaf(kind: FieldKind, input: FieldInput, schema: JsonObject, use: FieldUse, inside: Inside): StaticElement {
    const { byText, bySchema } = this.#leaves;
    const { name, isRequired, isDeprecated, description, example } = input;
    const rest = description === undefined && example === undefined ? '' : JSON.stringify([description, example]);
    const key = `${kind} ${use} ${isRequired} ${isDeprecated === true} ${rest} ${name}`;
    let known = bySchema.get(schema);
    if (known === undefined) {
      known = new Map();
      bySchema.set(schema, known);
    }
    let made = known.get(key);
    if (made === undefined) {
      made = byText.get(`${key} ${JSON.stringify(schema)}`, () => withAlike(this.#field(kind, input, use, inside)));
      known.set(key, made);
    }
    return made;
  }

  #field(kind: FieldKind, input: FieldInput, use: FieldUse, inside: Inside): StaticElement {
    const shape = this.#shape(input.schema);
    const { defaultValue } = shape;
    const circle = shape.names.find((name) => inside.names.has(name));
    const children = [
      ...this.description(input.description ?? shape.description, true),
      ...this.#facts(shape, input.example ?? shape.example),
      ...(circle === undefined ? this.#properties(shape, input.id, use, inside) : []),
    ];
    const readOrWrite = shape.isReadOnly ? this.#texts.reference.readOnly : this.#texts.reference.writeOnly;
    return element(
      kind,
      {
        name: input.name,
        id: input.id,
        type: circle === undefined ? this.#typeOf(shape, inside) : typeInCircle(shape.type, nameOfReference(circle)),
        required: input.isRequired || undefined,
        deprecated: input.isDeprecated === true || shape.isDeprecated || undefined,
        default: defaultValue === undefined ? undefined : shortened(shownDefault(defaultValue)),
        pre: shape.labels.pre.length > 0 ? shape.labels.pre : undefined,
        post: [
          ...(use === 'schema' && (shape.isReadOnly || shape.isWriteOnly) ? [readOrWrite] : []),
          ...(this.#params.post ?? []).flatMap((key) => labelsOf(key, shape.written[key])),
          ...shape.labels.post,
        ],
      },
      children,
    );
  }

  /** The type of a field. A list whose items have an enclosing schema is shown with its name: `Pet[]` in a pet. */
  #typeOf({ type, items, names }: Shape, inside: Inside): string {
    if (items === undefined || !type.startsWith('object[]')) return type;
    const circle = this.#shape(items).names.find((name) => inside.names.has(name) || names.includes(name));
    return circle === undefined ? type : type.replace('object', nameOfReference(circle));
  }

  /**
   * The content of a body: its properties as fields, or its type if it has none. `anchor` is an id on the page that leads to it. `isDescribed` means
   * that its description is already above it.
   */
  body(schema: JsonValue | undefined, id: string, use: FieldUse, anchor?: string, isDescribed = false): Nodes[] {
    const shape = this.#shape(schema);
    const inside: Inside = { depth: 0, names: new Set(shape.names), anchor };
    const shown = this.#members(shape, id, use, inside);
    const isPlainObject = shape.type === 'object' && shape.properties.length > 0;
    return [
      ...(isPlainObject ? [] : [{ type: 'paragraph' as const, children: [code(shape.type)] }]),
      ...(isDescribed ? [] : this.description(shape.description, true)),
      ...this.#facts(shape, undefined),
      ...shown,
    ];
  }

  description(written: string | undefined, isField: boolean): Nodes[] {
    return written === undefined ? [] : descriptionNodes(written, this.#parser, isField);
  }

  /** Constraints, allowed values and an example, each in a line. */
  #facts(shape: Shape, example: JsonValue | undefined): Nodes[] {
    const { reference } = this.#texts;
    const lines: Nodes[] = [];
    if (shape.constraints.length > 0) lines.push(line(shape.constraints.map((constraint) => [code(constraint)])));
    const values = shape.values.slice(0, maxValues);
    if (values.some(({ description }) => description !== undefined)) {
      const items = values.map(({ value, description }) => ({
        type: 'listItem' as const,
        children: [
          {
            type: 'paragraph' as const,
            children: [code(shownValue(value)), ...(description === undefined ? [] : [text(` – ${description}`)])],
          },
        ],
      }));
      lines.push({ type: 'paragraph', children: [text(reference.allowedValues)] }, { type: 'list', children: items });
    } else if (values.length > 0) {
      const more = shape.values.length > values.length ? [[text('…')]] : [];
      lines.push(line([...values.map(({ value }) => [code(shownValue(value))]), ...more], reference.allowedValues));
    }
    const isShort =
      example !== undefined && (typeof example !== 'object' || JSON.stringify(example).length < longestValue);
    if (isShort && !isSame(example, shape.defaultValue))
      lines.push(line([[code(shownDefault(example))]], reference.example));
    return lines;
  }

  /** The members of a field's schema, in a collapsible block. */
  #properties(shape: Shape, id: string, use: FieldUse, { depth, names }: Inside): Nodes[] {
    if (depth >= maxDepth) return this.#brief(shape, use, { names });
    const inside = { depth: depth + 1, names: new Set([...names, ...shape.names]), anchor: id };
    const members = this.#members(shape, id, use, inside);
    const [first] = members;
    if (first === undefined || (members.length === 1 && first.type === 'paragraph')) return members;
    return [element('Expandable', { defaultOpen: this.#params.isOpen }, members)];
  }

  #members(shape: Shape, id: string, use: FieldUse, inside: Inside): Nodes[] {
    if (this.#isFull(inside)) return this.#brief(shape, use, inside);
    const before = this.#shownBefore(shape, use, inside.anchor);
    if (before) return [before];
    const shownHere = shape.properties.filter((property) => this.#isUsed(property, use));
    const nodes: Nodes[] = [];
    const leftOut: Property[] = [];
    const first = shape.firstItems.map((schema, at) => ({ name: `[${at}]`, schema, isRequired: false }));
    for (const property of [...shownHere, ...shape.patterns, ...first]) {
      const { name, schema, isRequired } = property;
      if (this.#isFull(inside)) leftOut.push(property);
      else nodes.push(this.field('ResponseField', { name, id: `${id}-${name}`, schema, isRequired }, use, inside));
    }
    nodes.push(...namedOnly(leftOut));
    for (const { kind, options } of shape.variants) nodes.push(...this.#variants(kind, options, id, use, inside));
    if (shape.additional !== undefined && inside.depth <= maxDepth) {
      const input = { name: '{key}', id: `${id}-key`, schema: shape.additional, isRequired: false };
      nodes.push(this.field('ResponseField', input, use, inside));
    }
    if (shape.items !== undefined && inside.depth <= maxDepth) nodes.push(...this.#items(shape.items, id, use, inside));
    return nodes;
  }

  /** Content for which the page has no space: a link to the place where it is shown, or its names. */
  #brief(shape: Shape, use: FieldUse, { names }: Pick<Inside, 'names'>): Nodes[] {
    const before = this.#shownBefore(shape, use, undefined);
    if (before) return [before];
    const properties = shape.properties.filter((property) => this.#isUsed(property, use));
    const options = shape.variants.flatMap(({ options }) => options.slice(0, maxNamed));
    const inItems = properties.length === 0 && options.length === 0 ? shape.items : undefined;
    if (inItems === undefined)
      return namedOnly(
        properties,
        options.map((option) => nameOf(this.#document, option)),
      );
    const items = this.#shape(inItems);
    if (items.items !== undefined || items.names.some((name) => names.has(name))) return [];
    return this.#brief(items, use, { names });
  }

  #isFull({ depth }: Inside): boolean {
    return this.#fields >= (fieldsAtDepth[depth] ?? fieldsDeeper);
  }

  /** A link to the same members if the page already shows them, because errors often have the same fields in all responses. */
  #shownBefore({ names, properties }: Shape, use: FieldUse, anchor: string | undefined): Nodes | undefined {
    const [name] = names;
    if (name === undefined || properties.length < 2) return undefined;
    const key = [this.#hasSides ? use : '', ...names].join(' ');
    const place = this.#shownAt.get(key);
    if (place === undefined) {
      if (anchor !== undefined) this.#shownAt.set(key, anchor);
      return undefined;
    }
    const shownName = nameOfReference(name);
    return { type: 'paragraph', children: [{ type: 'link', url: `#${place}`, children: [text(shownName)] }] };
  }

  /** An array shows the members of its items as its own. */
  #items(items: JsonValue, id: string, use: FieldUse, { depth, names, anchor }: Inside): Nodes[] {
    const shape = this.#shape(items);
    if (shape.names.some((name) => names.has(name))) return [];
    const inside = { depth: depth + 1, names: new Set([...names, ...shape.names]), anchor };
    const isPlain = shape.properties.length === 0 && shape.variants.length === 0;
    return [
      ...(isPlain ? [...this.description(shape.description, true), ...this.#facts(shape, shape.example)] : []),
      ...this.#members(shape, id, use, inside),
    ];
  }

  #variants(kind: 'oneOf' | 'anyOf', options: JsonValue[], id: string, use: FieldUse, inside: Inside): Nodes[] {
    const words = this.#texts.reference[kind];
    const shown = options.slice(0, 20).map((option, at): Nodes => {
      const shape = this.#shape(option);
      this.#options += 1;
      const isCircle = shape.names.some((name) => inside.names.has(name));
      const names = new Set([...inside.names, ...shape.names]);
      const members =
        isCircle || inside.depth >= maxDepth || this.#options > maxOptions
          ? []
          : [
              ...this.description(shape.description, true),
              ...this.#facts(shape, undefined),
              ...this.#members(shape, `${id}-${at + 1}`, use, { ...inside, depth: inside.depth + 1, names }),
            ];
      const name = nameOf(this.#document, option);
      return members.length === 0
        ? { type: 'paragraph', children: [code(name)] }
        : element('Expandable', { title: shortened(name) }, members);
    });
    return [{ type: 'paragraph', children: [text(words)] }, ...shown];
  }

  #isUsed({ schema }: Property, use: FieldUse): boolean {
    if (use === 'schema') return true;
    const { isReadOnly, isWriteOnly } = isLeaf(schema)
      ? { isReadOnly: schema['readOnly'] === true, isWriteOnly: schema['writeOnly'] === true }
      : this.#shape(schema);
    return use === 'request' ? !isReadOnly : !isWriteOnly;
  }
}

/** Fields without space are listed in a line: `… country, zip`. */
function namedOnly(properties: readonly Property[], options: readonly string[] = []): Nodes[] {
  const names = [...properties.map(({ name }) => name), ...options];
  if (names.length === 0) return [];
  // One code element for all names, because a page may have hundreds of them.
  const shown = names.slice(0, maxNamed).map(shortened).join(', ');
  const more = names.length > maxNamed ? [text(', …')] : [];
  return [{ type: 'paragraph', children: [text('… '), plainCode(shown), ...more] }];
}

/** Caches of elements for fields that differ only in their ids. */
type Leaves = {
  byText: RecentValues<StaticElement>;
  bySchema: WeakMap<JsonObject, Map<string, StaticElement>>;
};

/** Caches by interface texts, and by the settings that affect fields. */
const leavesByTexts = new WeakMap<InterfaceTexts, Map<string, Leaves>>();
const mostSettings = 100;

function leavesFor(texts: InterfaceTexts, settings: string): Leaves {
  let bySettings = leavesByTexts.get(texts);
  if (bySettings === undefined || bySettings.size > mostSettings) {
    bySettings = new Map();
    leavesByTexts.set(texts, bySettings);
  }
  let leaves = bySettings.get(settings);
  if (leaves === undefined) {
    leaves = { byText: new RecentValues(1_000_000), bySchema: new WeakMap() };
    bySettings.set(settings, leaves);
  }
  return leaves;
}

/** True for a schema without references and without nested content that has fields or descriptions. */
function isLeaf(schema: JsonValue | undefined): schema is JsonObject {
  if (!isJsonObject(schema)) return false;
  for (const key in schema) {
    if (!outsideLeaves.has(key)) continue;
    if (key !== 'items' || !isPlainType(schema[key])) return false;
  }
  return true;
}

const outsideLeaves = new Set([
  ...['$ref', 'allOf', 'oneOf', 'anyOf', 'items', 'prefixItems'],
  ...['properties', 'patternProperties', 'additionalProperties'],
]);

function isPlainType(items: JsonValue | undefined): boolean {
  if (!isJsonObject(items)) return false;
  for (const key in items) if (key !== 'type' && key !== 'format') return false;
  return true;
}

/** Marks an element as reusable on all pages if its description has only plain text, without links or dependence on the page. */
const withAlike = (made: StaticElement): StaticElement =>
  made.children.every(isOfWords) ? { ...made, alike: {} } : made;

const wordTypes = new Set('paragraph text inlineCode strong emphasis delete list listItem break'.split(' '));

const isOfWords = (node: Nodes): boolean =>
  wordTypes.has(node.type) && (!('children' in node) || node.children.every(isOfWords));

export type FieldUse = 'request' | 'response' | 'schema';

/** The place of a field: its depth, the references around it, which are not followed again, and the nearest id. */
type Inside = { depth: number; names: ReadonlySet<string>; anchor: string | undefined };

const outermost: Inside = { depth: 0, names: new Set(), anchor: undefined };

/** A value of a schema as labels after the name of its field: `true` is shown as its key, a list item by item. */
function labelsOf(key: string, value: JsonValue | undefined): string[] {
  if (value === true) return [key];
  return (Array.isArray(value) ? value : [value]).flatMap((item) =>
    typeof item === 'string' || typeof item === 'number' ? (textOf(item) ?? []) : [],
  );
}

const typeInCircle = (type: string, name: string): string => (type === 'object' ? name : `${type} · ${name}`);

const shortened = (value: string): string =>
  value.length > longestValue ? `${value.slice(0, longestValue).toWellFormed()}…` : value;

const shownDefault = (value: JsonValue): string => (value === '' ? '""' : shownValue(value));

const isSame = (first: JsonValue, second: JsonValue | undefined): boolean =>
  JSON.stringify(first) === JSON.stringify(second);

function line(parts: PhrasingContent[][], label?: string): Nodes {
  const joined = parts.flatMap((part, at) => (at === 0 ? part : [text(', '), ...part]));
  return { type: 'paragraph', children: [...(label === undefined ? [] : [text(`${label} `)]), ...joined] };
}
