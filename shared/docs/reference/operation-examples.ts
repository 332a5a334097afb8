import type { Code } from 'mdast';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectOf,
  objectsOf,
  textOf,
} from '#shared/docs/project/json-values.ts';
import { exampleOf, type ExampleSettings, namedExamples } from './example-value.ts';
import type { ExampleFields } from './made-example.ts';
import { madeFile } from './text-formats.ts';
import { credentialOf, entriesOf, type OpenSlice, resolved, securityOf, serversOf } from './open-slice.ts';
import type { Operation } from './operations.ts';
import type { Direction } from './schema-fits.ts';
import { headerValue, parameterPairs } from './parameter-style.ts';
import { type CodeSample, requestSamples } from './samples/request-samples.ts';
import { formFieldsOf } from './form-parts.ts';
import type { SampleRequest } from './samples/sample-request.ts';

const longestExample = 5_000;
const longestMadeBody = 400;
/** Maximum length of a generated response. A longer one is made again with less depth, because the page lists its fields beside it. */
const longestMadeAnswer = 1_200;

/**
 * Called for each request or answer whose schema allows no example that was found. `ambiguous` means that an example is shown, which fits several
 * options of a `oneOf`.
 */
export type Missing = (where: 'the request' | `the answer ${string}`, kind: 'none' | 'ambiguous') => void;

type FoundExample = { value: JsonValue | undefined; isAmbiguous: boolean };

/** The request in several languages: samples written in the specification, or else generated ones. None for webhooks. */
export function requestFences(
  slice: OpenSlice,
  operation: Operation,
  parameters: readonly JsonObject[],
  { languages, autogenerate, defaults }: ExampleSettings,
  missing: Missing = () => {},
): Code[] {
  if (operation.kind === 'webhook') return [];
  const given = givenSamples(operation.written, languages);
  const samples =
    given.length > 0 || autogenerate === false
      ? given
      : requestSamples(requestOf(slice, operation, parameters, defaults, missing), languages);
  return samples.map(({ language, title, code, shared }) => ({
    ...fence(language, title, code),
    ...(shared && { data: { shared } }),
  }));
}

function requestOf(
  slice: OpenSlice,
  { method, path, written }: Operation,
  parameters: readonly JsonObject[],
  defaults: ExampleSettings['defaults'],
  missing: Missing,
): SampleRequest {
  const { document } = slice;
  const server = serversOf(slice)[0]?.url ?? 'https://api.example.com';
  const base = /^https?:\/\//.test(server) ? server : `https://api.example.com${server.startsWith('/') ? server : ''}`;
  const valueOf = (parameter: JsonObject): JsonValue => {
    const media = objectOf(Object.values(objectOf(parameter['content']))[0]);
    const written = parameter['content'] === undefined ? parameter : { ...media, ...parameter };
    return exampleOf(document, written, 'request') ?? `<${textOf(parameter['name'])}>`;
  };
  const request: SampleRequest = { method, url: base + path, query: [], headers: [], cookies: [], body: undefined };
  for (const parameter of parameters) {
    const name = textOf(parameter['name']) ?? '';
    const isWanted = defaults === undefined ? parameter['example'] !== undefined : defaults === 'all';
    const isShown = parameter['required'] === true || isWanted;
    if (!isShown || name === '') continue;
    const value = valueOf(parameter);
    if (parameter['in'] === 'query') request.query.push(...parameterPairs(parameter, name, value));
    else if (parameter['in'] === 'header') request.headers.push([name, headerValue(parameter, value)]);
    else if (parameter['in'] === 'cookie') request.cookies.push(...parameterPairs(parameter, name, value));
  }
  for (const { scheme } of securityOf(slice, written)[0] ?? []) {
    const { place, field, value } = credentialOf(scheme);
    const pair: [string, string] = [field, value ?? '<api-key>'];
    if (place === 'header') request.headers.push(pair);
    else if (place === 'query') request.query.push(pair);
    else if (place === 'cookie') request.cookies.push(pair);
  }
  const [media] = entriesOf(resolved(document, written['requestBody']).value['content']);
  if (media) {
    const facts = resolved(document, media[1]).value;
    const { value, isAmbiguous } = shortExample(document, facts, defaults);
    request.body = requestBody(document, sentType(media[0]), facts, value);
    if (request.body === undefined && facts['schema'] !== undefined) missing('the request', 'none');
    if (isAmbiguous) missing('the request', 'ambiguous');
  }
  return request;
}

/** Media type of a request whose description may accept any type. */
const sentType = (type: string): string => (type.includes('*') ? 'application/json' : type);

/** The example of a request. A long generated one is made again with fewer fields, because it appears in eight languages. */
function shortExample(document: JsonObject, media: JsonObject, defaults: ExampleSettings['defaults']): FoundExample {
  const wanted: ExampleFields[] = [
    defaults === undefined ? {} : { defaults },
    { defaults: 'required', depth: 3 },
    { defaults: 'required', depth: 1 },
    { defaults: 'required', depth: 0 },
  ];
  let found: FoundExample = { value: undefined, isAmbiguous: false };
  for (const fields of defaults === 'all' ? wanted.slice(0, 1) : wanted) {
    found = foundExample(document, media, 'request', fields);
    if (found.value === undefined || JSON.stringify(found.value).length <= longestMadeBody) return found;
  }
  return found;
}

function foundExample(document: JsonObject, media: JsonObject, use: Direction, fields: ExampleFields): FoundExample {
  let isAmbiguous = false;
  const value = exampleOf(document, media, use, fields, () => {
    isAmbiguous = true;
  });
  return { value, isAmbiguous };
}

function requestBody(
  document: JsonObject,
  mimeType: string,
  media: JsonObject,
  example: JsonValue | undefined,
): SampleRequest['body'] {
  if (example === undefined) return undefined;
  if (/form/.test(mimeType) && isJsonObject(example)) {
    return { mimeType, text: '', fields: formFieldsOf(document, mimeType, media, example) };
  }
  if (example === madeFile && !/json|^text\//i.test(mimeType)) return { mimeType, text: '', isFile: true };
  return { mimeType, text: typeof example === 'string' ? example : JSON.stringify(example, undefined, 2) };
}

/** Examples of the responses: each named one, and one for all responses with equal examples. */
export function responseFences({ document }: OpenSlice, { written }: Operation, missing: Missing = () => {}): Code[] {
  const fences = entriesOf(written['responses']).flatMap(([status, response]) => {
    const { value } = resolved(document, response);
    const [media, ...others] = entriesOf(value['content']);
    if (media === undefined) return [];
    const facts = resolved(document, media[1]).value;
    const named = namedExamples(document, facts).slice(0, 4);
    if (named.length > 1) return named.map(([name, example]) => exampleFence(media[0], `${status} ${name}`, example));
    // The same answer in another form, such as a stream, has its own example if the author wrote one.
    const written = others.flatMap(([type, other]) => {
      const { schema: _, ...form } = resolved(document, other).value;
      const own = exampleOf(document, form, 'response');
      return own === undefined ? [] : [exampleFence(type, `${status} ${type}`, own)];
    });
    const { value: example, isAmbiguous } = shortAnswer(document, facts);
    if (example === undefined && facts['schema'] !== undefined) missing(`the answer ${status}`, 'none');
    if (isAmbiguous) missing(`the answer ${status}`, 'ambiguous');
    return [...(example === undefined ? [] : [exampleFence(media[0], status, example)]), ...written];
  });
  return withoutTwins(fences).slice(0, 8);
}

function shortAnswer(document: JsonObject, media: JsonObject): FoundExample {
  let found: FoundExample = { value: undefined, isAmbiguous: false };
  for (const fields of [{}, { depth: 3 }, { depth: 2 }, { depth: 1 }]) {
    const before = found.value;
    found = foundExample(document, media, 'response', fields);
    const { value } = found;
    // The same object again means that the example is written in the specification.
    if (value === undefined || value === before || JSON.stringify(value).length <= longestMadeAnswer) return found;
  }
  return found;
}

/** Merges equal examples under one title: errors mostly have the same fields. */
function withoutTwins(fences: readonly Code[]): Code[] {
  const titles = new Map<string, string[]>();
  const keyOf = ({ lang, value }: Code): string => `${lang} ${value}`;
  for (const fence of fences) titles.set(keyOf(fence), [...(titles.get(keyOf(fence)) ?? []), titleOf(fence)]);
  return fences.flatMap((each) => {
    const all = titles.get(keyOf(each));
    titles.delete(keyOf(each));
    if (all === undefined) return [];
    const shown = all.length > 6 ? [...all.slice(0, 5), '…'] : all;
    return [fence(each.lang ?? 'text', shown.join(', '), each.value)];
  });
}

const titleOf = ({ meta }: Code): string => (meta ?? '').replace(/^title="|"$/g, '');

/** An example in the form in which it is sent. A long one is cut. */
export function exampleFence(mimeType: string, title: string, example: JsonValue): Code {
  const isJson = typeof example !== 'string' || /json/.test(mimeType);
  const written = isJson ? JSON.stringify(example, undefined, 2) : example;
  if (written.length <= longestExample) return fence(isJson ? 'json' : 'text', title, written);
  return fence('text', title, `${written.slice(0, longestExample).toWellFormed()}\n…`);
}

const fence = (language: string, title: string, value: string): Code => ({
  type: 'code',
  lang: language,
  meta: `title="${title.replaceAll(/["\n]/g, ' ')}"`,
  value,
});

/** `x-codeSamples` in the languages that the site wants, in their order. */
function givenSamples(written: JsonObject, languages: readonly string[] | undefined): CodeSample[] {
  const given = objectsOf(written['x-codeSamples'] ?? written['x-code-samples']).flatMap((sample): CodeSample[] => {
    const { lang, label, source } = sample;
    const [language, value] = [textOf(lang) ?? 'text', textOf(source)];
    return value === undefined ? [] : [{ language, title: textOf(label) ?? language, code: value }];
  });
  if (languages === undefined) return given.slice(0, 20);
  const place = ({ language }: CodeSample): number => {
    const at = languages.findIndex((name) => name.toLowerCase() === language.toLowerCase());
    return at < 0 ? languages.length : at;
  };
  return given.toSorted((a, b) => place(a) - place(b)).slice(0, 20);
}
