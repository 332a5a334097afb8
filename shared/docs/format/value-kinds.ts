import { isJsonObject, type JsonValue } from '#shared/docs/project/json-values.ts';

/** The part of JSON Schema that describes values of the format. Every keyword here is one that `fits` knows. */
export type ValueSchema = {
  type?: string | readonly string[];
  enum?: readonly string[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  items?: ValueSchema;
  properties?: Readonly<Record<string, ValueSchema>>;
  additionalProperties?: ValueSchema;
  anyOf?: readonly ValueSchema[];
};

/** The values that a setting can have. `names`: the kind of thing that they name; an editor offers those that exist. */
export type ValueKind = { schema: ValueSchema; names?: 'icon' | 'page' | 'picture' | 'snippet' | 'file' };

export const text: ValueKind = { schema: { type: ['string', 'number'] } };
export const flag: ValueKind = { schema: { type: 'boolean' } };
export const number: ValueKind = { schema: { type: 'number' } };
export const anything: ValueKind = { schema: {} };
export const icon: ValueKind = { schema: { type: 'string' }, names: 'icon' };
/** A path of a page, or an address. */
export const address: ValueKind = { schema: { type: 'string' }, names: 'page' };
export const picture: ValueKind = { schema: { type: 'string' }, names: 'picture' };
export const file: ValueKind = { schema: { type: 'string' }, names: 'file' };
export const snippet: ValueKind = { schema: { type: 'string' }, names: 'snippet' };
export const colourPattern = '^#([0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$';
export const colour: ValueKind = { schema: { type: 'string', pattern: colourPattern } };
const object: ValueSchema = { type: 'object' };
export const list: ValueKind = { schema: { type: 'array' } };
export const group: ValueKind = { schema: object };
/** An object whose values are texts. */
export const textsByName: ValueKind = {
  schema: { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } },
};
/** A text, or a list of texts. */
export const texts: ValueKind = {
  schema: { anyOf: [text.schema, { type: 'array', items: text.schema }] },
};
/** An API description, a list of them, or one with the folder of the pages that are made from it. */
export const description: ValueKind = {
  schema: { anyOf: [...(texts.schema.anyOf ?? []), object] },
  names: 'file',
};

export const oneOf = (values: readonly string[]): ValueKind => ({ schema: { type: 'string', enum: values } });

/** One value for both appearances, or one for each. */
export const lightDark = (kind: ValueKind): ValueKind => ({
  ...kind,
  schema: { anyOf: [kind.schema, { type: 'object', properties: { light: kind.schema, dark: kind.schema } }] },
});

/** The texts that a value can be; empty if it can be others. */
export const valuesOf = ({ schema }: ValueKind): readonly string[] => schema.enum ?? [];

/** True if a value is one of the schema. The only null that fits is that of a schema for everything. Pure. */
export function fits(value: JsonValue, schema: ValueSchema): boolean {
  const { type, anyOf } = schema;
  if (anyOf !== undefined) return anyOf.some((each) => fits(value, each));
  if (type !== undefined && ![type].flat().includes(typeOf(value))) return false;
  if (typeof value === 'string') {
    if (schema.enum !== undefined && !schema.enum.includes(value)) return false;
    return schema.pattern === undefined || new RegExp(schema.pattern, 'u').test(value);
  }
  if (typeof value === 'number') return value >= (schema.minimum ?? value) && value <= (schema.maximum ?? value);
  const { items, properties = {}, additionalProperties } = schema;
  if (Array.isArray(value)) return items === undefined || value.every((item) => fits(item, items));
  if (!isJsonObject(value)) return true;
  return Object.entries(value).every(([key, inner]) => {
    const own = Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
    return own === undefined || fits(inner, own);
  });
}

const typeOf = (value: JsonValue): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);
