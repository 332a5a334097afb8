import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectOf,
  ownValue,
  putValue,
  textOf,
} from '#shared/docs/project/json-values.ts';
import { shownValue } from './open-slice.ts';
import type { SampleField } from './samples/sample-request.ts';
import { merge, partType, shapeOf } from './schema-shape.ts';

/** Encoding of a property in a multipart form. `isFile` is true for a file of the reader; for a list, each item is a file. */
type FormPart = { isFile: boolean; mimeType: string | undefined };

/** Determines the encoding of a property from its schema and from `encoding` of the media type. */
export function formPart(
  document: JsonObject,
  media: JsonObject,
  name: string,
  schema: JsonValue | undefined,
): FormPart {
  const encoding = objectOf(ownValue(objectOf(media['encoding']), name));
  const given = textOf(encoding['contentType'])?.split(/[,;]/)[0]?.trim();
  const written = given !== undefined && /^[\w.+-]+\/[\w.+-]+$/.test(given) ? given : undefined;
  const shape = shapeOf(document, schema);
  const item = shape.items === undefined ? schema : shape.items;
  const { merged } = merge(document, item);
  const isFile = isBinary(merged) || (written !== undefined && isFileType(written) && merged['type'] === 'string');
  const own = textOf(merged['contentMediaType']);
  const isObject = isJsonObject(merged['properties']) || merged['type'] === 'object';
  const kept = own === undefined || own === 'application/octet-stream' ? undefined : own;
  return { isFile, mimeType: written ?? (isFile ? kept : isObject ? 'application/json' : kept) };
}

/** The schema of a form, with the media type added to each part that has one, for the list of fields. */
export function withPartTypes(document: JsonObject, mimeType: string, media: JsonObject): JsonValue | undefined {
  const { schema } = media;
  if (!/^multipart\//i.test(mimeType) || schema === undefined) return schema;
  const properties: JsonObject = {};
  for (const { name, schema: own } of shapeOf(document, schema).properties) {
    const { isFile, mimeType: type = isFile ? 'application/octet-stream' : undefined } = formPart(
      document,
      media,
      name,
      own,
    );
    const isSaid = type === merge(document, own).merged['contentMediaType'];
    if (type !== undefined && !isSaid) putValue(properties, name, { [partType]: type, allOf: [own] });
  }
  return Object.keys(properties).length === 0 ? schema : { allOf: [{ properties }, schema] };
}

/** True for a schema of bytes: OpenAPI 3.0 marks it with its format, 3.1 with a media type without an encoding. */
export function isBinary({ format, contentMediaType, contentEncoding }: JsonObject): boolean {
  if (format === 'binary') return true;
  return typeof contentMediaType === 'string' && contentEncoding === undefined && isFileType(contentMediaType);
}

const isFileType = (mimeType: string): boolean => !/json|xml|yaml|csv|javascript|urlencoded|^text\//i.test(mimeType);

/** The fields of a form for an example of its body. Each item of a list is a separate part. */
export function formFieldsOf(
  document: JsonObject,
  mimeType: string,
  media: JsonObject,
  example: JsonObject,
): SampleField[] {
  const hasParts = /^multipart\//i.test(mimeType);
  const schemas = new Map(shapeOf(document, media['schema']).properties.map(({ name, schema }) => [name, schema]));
  return Object.entries(example).flatMap(([name, value]) => {
    if (!hasParts) return [{ name, value: shownValue(value) }];
    const { isFile, mimeType } = formPart(document, media, name, schemas.get(name));
    return (Array.isArray(value) ? value : [value]).map((item) => ({
      name,
      value: shownValue(item),
      ...(isFile && { isFile: true as const }),
      ...(mimeType !== undefined && { mimeType }),
    }));
  });
}
