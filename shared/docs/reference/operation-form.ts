import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectOf,
  ownValue,
  textOf,
  textsOf,
} from '#shared/docs/project/json-values.ts';
import type {
  FormBody,
  FormCredential,
  FormField,
  FormServer,
  PlaygroundForm,
} from '#shared/docs/render/site/playground-form.ts';
import { exampleOf, namedExamples } from './example-value.ts';
import {
  entriesOf,
  type OpenSlice,
  parametersOf,
  resolved,
  securityOf,
  type SecurityScheme,
  shownValue,
  writtenServersOf,
} from './open-slice.ts';
import { formPart, isBinary } from './form-parts.ts';
import type { Operation } from './operations.ts';
import { exampleIn, merge, shapeOf } from './schema-shape.ts';

const maxServers = 20;
const maxFields = 100;
const maxAlternatives = 10;
const maxBodies = 6;
const maxValues = 60;
const longestName = 100;
const longestValue = 200;
const longestText = 5_000;
/** Maximum length of a form as JSON. Only hostile forms exceed it: they lose values and examples, and then fields. */
const longestForm = 40_000;
const fewFields = 30;

/** The form that sends a request of an operation; undefined for a webhook, which the server calls. */
export function operationForm(slice: OpenSlice, operation: Operation): PlaygroundForm | undefined {
  if (operation.kind === 'webhook') return undefined;
  const { method, path, written } = operation;
  const { document } = slice;
  const parameters = parametersOf(slice, operation).flatMap((parameter) => parameterField(document, parameter) ?? []);
  const fields = parameters.slice(0, maxFields);
  return withinLimit({
    method,
    path,
    servers: serversFor(slice),
    fields: [...namesWithoutField(path, fields), ...fields],
    auth: securityOf(slice, written)
      .slice(0, maxAlternatives)
      .map((set) => set.map(credential)),
    bodies: bodiesOf(document, written),
  });
}

function withinLimit(form: PlaygroundForm): PlaygroundForm {
  if (JSON.stringify(form).length <= longestForm) return form;
  const few = (fields: FormField[]): FormField[] =>
    fields.slice(0, fewFields).map(({ values: _, example: _2, fallback: _3, ...rest }) => rest);
  return {
    ...form,
    servers: form.servers.slice(0, fewFields).map(({ url }) => ({ url })),
    fields: few(form.fields),
    auth: form.auth.slice(0, 3).map((set) => set.slice(0, 3)),
    bodies: form.bodies.map(({ fields, ...body }) => ({ ...body, ...(fields && { fields: few(fields) }) })),
  };
}

/** Fields for the names in a path that have no parameter. */
function namesWithoutField(path: string, fields: readonly FormField[]): FormField[] {
  const names = new Set([...path.matchAll(/\{([^{}]{1,100})\}/g)].map(([, name = '']) => name));
  for (const field of fields) if (field.in === 'path') names.delete(field.name);
  return [...names]
    .slice(0, maxFields)
    .map((name) => ({ in: 'path', name, kind: 'text', type: 'string', required: true }));
}

function serversFor(slice: OpenSlice): FormServer[] {
  return writtenServersOf(slice)
    .slice(0, maxServers)
    .flatMap((server) => {
      const url = textOf(server['url']);
      if (url === undefined || !isUsableServer(url)) return [];
      const variables: NonNullable<FormServer['variables']> = {};
      for (const [name, variable] of Object.entries(objectOf(server['variables'])).slice(0, maxServers)) {
        const { default: value, enum: values } = objectOf(variable);
        if (!url.includes(`{${name}}`)) continue;
        const allowed = textsOf(values)
          .filter(({ length }) => length <= longestValue)
          .slice(0, maxValues);
        const preset = (textOf(value) ?? allowed[0] ?? '').slice(0, longestValue).toWellFormed();
        variables[name] = { value: preset, ...(allowed.length > 0 && { values: allowed }) };
      }
      const description = textOf(server['description'])?.slice(0, longestValue).toWellFormed();
      const made: FormServer = { url };
      if (description !== undefined) made.description = description;
      if (Object.keys(variables).length > 0) made.variables = variables;
      return [made];
    });
}

/** True for an http(s) address, one relative to the site, or one whose scheme is a variable. The script checks the resulting address again. */
const isUsableServer = (url: string): boolean =>
  url.length <= 1_000 && (/^https?:\/\//i.test(url) || url.startsWith('{') || !/^[^/?#]*:/.test(url));

const places = ['path', 'query', 'header', 'cookie'] as const;
/** Matches headers that OpenAPI describes by other means than parameters. */
const notParameters = /^(?:accept|content-type)$/i;

function parameterField(document: JsonObject, parameter: JsonObject): FormField | undefined {
  const name = textOf(parameter['name']);
  const place = places.find((each) => each === parameter['in']);
  if (name === undefined || place === undefined || name.length > longestName) return undefined;
  if (place === 'header' && notParameters.test(name)) return undefined;
  const media = objectOf(Object.values(objectOf(parameter['content']))[0]);
  const field = fieldOf(document, place, name, parameter['schema'] ?? media['schema']);
  if (parameter['required'] === true || place === 'path') field.required = true;
  if (parameter['deprecated'] === true) field.deprecated = true;
  const example = exampleIn(parameter) ?? namedExamples(document, parameter)[0]?.[1] ?? exampleIn(media);
  if (example !== undefined) setExample(field, example);
  if (parameter['content'] !== undefined) Object.assign(field, { kind: 'object', json: true });
  if (parameter['allowReserved'] === true) field.reserved = true;
  setStyle(field, parameter);
  return field;
}

/** A field for a value of this schema. */
function fieldOf(document: JsonObject, place: FormField['in'], name: string, schema: JsonValue | undefined): FormField {
  const shape = shapeOf(document, schema);
  const { merged } = merge(document, schema);
  const items = shape.items === undefined ? undefined : shapeOf(document, shape.items);
  const isList = items !== undefined || shape.firstItems.length > 0 || shape.type.endsWith('[]');
  const isObject = shape.properties.length > 0 || shape.additional !== undefined || /^object\b/.test(shape.type);
  const isFile = (part: JsonObject): boolean => place === 'form' && isBinary(part);
  const hasFiles = isList && isFile(merge(document, shape.items).merged);
  const kind = hasFiles
    ? 'files'
    : isFile(merged)
      ? 'file'
      : isList
        ? 'list'
        : isObject
          ? 'object'
          : /^boolean( \| null)?$/.test(shape.type)
            ? 'boolean'
            : 'text';
  const field: FormField = { in: place, name, kind, type: shape.type.slice(0, longestName).toWellFormed() };
  const values = (items ?? shape).values.map(({ value }) => shownValue(value));
  const fits = values.length <= maxValues && values.every((value) => value.length <= longestValue);
  if (values.length > 0 && fits && kind !== 'object') field.values = values;
  if (shape.isDeprecated) field.deprecated = true;
  const example = shape.example ?? (kind === 'list' ? items?.example : undefined);
  if (example !== undefined) setExample(field, example);
  if (shape.defaultValue !== undefined && !isJsonObject(shape.defaultValue) && !Array.isArray(shape.defaultValue))
    field.fallback = shownValue(shape.defaultValue).slice(0, longestValue).toWellFormed();
  return field;
}

function setExample(field: FormField, example: JsonValue): void {
  const lines = field.kind === 'list' ? (Array.isArray(example) ? example : [example]) : undefined;
  const text = lines === undefined ? shownValue(example) : lines.map(shownValue).join('\n');
  if (text.length <= longestText / 10) field.example = text;
}

function setStyle(field: FormField, { style, explode }: JsonObject): void {
  if (typeof style === 'string') field.style = style;
  if (typeof explode === 'boolean') field.explode = explode;
}

function credential({ name: key, scheme }: SecurityScheme): FormCredential {
  const title = key.slice(0, longestName).toWellFormed();
  if (scheme['type'] === 'apiKey') {
    const place = scheme['in'] === 'query' || scheme['in'] === 'cookie' ? scheme['in'] : 'header';
    const name = (textOf(scheme['name']) ?? 'X-API-Key').slice(0, longestName).toWellFormed();
    return { kind: 'key', title, in: place, name };
  }
  const written = scheme['type'] === 'http' ? (textOf(scheme['scheme']) ?? 'bearer') : 'bearer';
  const shared = { title, in: 'header' as const, name: 'Authorization' };
  if (/^basic$/i.test(written)) return { kind: 'basic', ...shared };
  const isName = /^[\w-]{1,40}$/.test(written) && !/^bearer$/i.test(written);
  return { kind: 'token', ...shared, scheme: isName ? written : 'Bearer' };
}

function bodiesOf(document: JsonObject, written: JsonObject): FormBody[] {
  const body = resolved(document, written['requestBody']).value;
  return entriesOf(body['content'])
    .filter(([mimeType]) => mimeType.length <= longestName)
    .slice(0, maxBodies)
    .map(([mimeType, content]) => {
      const media = resolved(document, content).value;
      const made: FormBody = { mimeType: mimeType.includes('*') ? 'application/octet-stream' : mimeType };
      if (body['required'] === true) made.required = true;
      if (/^multipart\/|form-urlencoded/i.test(mimeType)) made.fields = formFields(document, media);
      else if (isBinaryBody(document, mimeType, media)) made.file = true;
      else made.text = textOfExample(document, mimeType, media);
      return made;
    });
}

function formFields(document: JsonObject, media: JsonObject): FormField[] {
  const encoding = objectOf(media['encoding']);
  const given = objectOf(exampleIn(media) ?? namedExamples(document, media)[0]?.[1]);
  const { properties } = shapeOf(document, media['schema']);
  return properties
    .filter(({ name, schema }) => name.length <= longestName && merge(document, schema).merged['readOnly'] !== true)
    .slice(0, maxFields)
    .map(({ name, schema, isRequired }) => {
      const field = fieldOf(document, 'form', name, schema);
      const own = objectOf(ownValue(encoding, name));
      if (isRequired) field.required = true;
      const example = ownValue(given, name);
      if (example !== undefined) setExample(field, example);
      const part = formPart(document, media, name, schema);
      if (part.isFile) field.kind = field.kind === 'list' || field.kind === 'files' ? 'files' : 'file';
      else if (part.mimeType !== undefined) field.mimeType = part.mimeType;
      setStyle(field, own);
      return field;
    });
}

function isBinaryBody(document: JsonObject, mimeType: string, media: JsonObject): boolean {
  if (/json|xml|yaml|csv|javascript|^text\//i.test(mimeType)) return false;
  const { merged } = merge(document, media['schema']);
  const isText = merged['format'] !== 'binary' && exampleIn(media) !== undefined;
  return !isText;
}

/** An example of the request body; empty if it is too long to be edited. */
function textOfExample(document: JsonObject, mimeType: string, media: JsonObject): string {
  const example = exampleOf(document, media, 'request');
  if (example === undefined || (!/json/i.test(mimeType) && isJsonObject(example))) return '';
  // Some authors write the example of an object as JSON text.
  const isText = typeof example === 'string' && (!/json/i.test(mimeType) || /^\s*[[{]/.test(example));
  const text = isText ? example : JSON.stringify(example, undefined, 2);
  return text.length <= longestText ? text : '';
}
