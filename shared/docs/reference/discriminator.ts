import { isJsonObject, type JsonObject, type JsonValue, objectOf } from '#shared/docs/project/json-values.ts';
import { nameOfReference } from './open-slice.ts';

/** References to the schemas in a discriminator's mapping. */
export const mappedSchemas = ({ discriminator }: JsonObject): string[] => [
  ...new Set(Object.values(objectOf(objectOf(discriminator)['mapping'])).flatMap((name) => referenceOf(name) ?? [])),
];

const referenceOf = (name: JsonValue): string | undefined =>
  typeof name !== 'string' ? undefined : name.startsWith('#/') ? name : `#/components/schemas/${name}`;

/** The discriminator value of a schema: the value that the mapping gives it, or else its name. */
export function kindOf({ mapping }: JsonObject, reference: string): string {
  const mapped = Object.entries(objectOf(mapping)).find(([, name]) => referenceOf(name) === reference);
  return mapped?.[0] ?? nameOfReference(reference);
}

/** The discriminator's property with the value of one variant; undefined if the variant already fixes another value. */
export function kindIn(
  discriminator: JsonObject,
  reference: string,
  property: JsonValue | undefined,
): JsonObject | undefined {
  const value = kindOf(discriminator, reference);
  const { const: constant, enum: values } = objectOf(property);
  if (constant !== undefined || (Array.isArray(values) && (values.length === 1 || !values.includes(value))))
    return undefined;
  return {
    ...(isJsonObject(property) && property['$ref'] === undefined ? property : {}),
    ...alsoReferred(property),
    const: value,
  };
}

const alsoReferred = (property: JsonValue | undefined): JsonObject =>
  isJsonObject(property) && property['$ref'] !== undefined ? { allOf: [property] } : {};

/** Finds, among the references that led to a schema, one that the schema lists as its own variant. */
export function childIn(parent: JsonObject, names: ReadonlySet<string>): string | undefined {
  const options = ['oneOf', 'anyOf'].flatMap((kind) => {
    const written = parent[kind];
    return Array.isArray(written) ? written.map((option) => objectOf(option)['$ref']) : [];
  });
  const variants = new Set([...options, ...mappedSchemas(parent)]);
  return [...names].find((name) => variants.has(name));
}
