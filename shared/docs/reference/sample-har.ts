import { madeFile } from './example-value.ts';
import type { Quoting, TextMarks, TextPlace } from './sample-literals.ts';

/** A request to show. Names in braces stay in its address. */
export type SampleRequest = {
  method: string;
  /** With everything but the query. */
  url: string;
  query: [string, string][];
  headers: [string, string][];
  cookies: [string, string][];
  /** `fields`: of a form. A file is `madeFile`. */
  body: { mimeType: string; text: string; fields?: [string, string][] } | undefined;
};

export const textsIn = ({ url, query, headers, cookies, body }: SampleRequest): string[] => [
  url,
  ...[...query, ...headers, ...cookies, ...(body?.fields ?? [])].flat(),
  body?.text ?? '',
];

/** Longer ones are cut by no library, and nobody reads them eight times. */
const maxBody = 3_000;

/** What the library takes. */
export type Har = {
  method: string;
  url: string;
  httpVersion: string;
  queryString: Pair[];
  headers: Pair[];
  cookies: Pair[];
  headersSize: number;
  bodySize: number;
  postData?: Body;
};
type Pair = { name: string; value: string };
type Body = {
  mimeType: string;
  text?: string;
  params?: { name: string; value?: string; fileName?: string; contentType?: string }[];
};

const isParts = (mimeType: string): boolean => /^multipart\//i.test(mimeType);

/** `encodesQuery`: the library does it. */
export function harOf(
  { method, url, query, headers, cookies, body }: SampleRequest,
  quoting: Quoting,
  encodesQuery: boolean,
  marks: TextMarks,
): Har {
  const write = (text: string, place: TextPlace): string =>
    quoting.places.includes(place) ? marks.mark(text, place) : text;
  const pairs = (list: readonly [string, string][], place: TextPlace) =>
    list.map(([name, value]) => ({ name: write(name, place), value: write(value, place) }));
  // A form with parts has a boundary in its type, which only what sends it knows.
  const type =
    body === undefined || isParts(body.mimeType) ? [] : [['Content-Type', body.mimeType] as [string, string]];
  const sent = headers.map(([name, value]): [string, string] => [name, value.replaceAll(/[\r\n]+/g, ' ')]);
  return {
    method,
    url: safeAddress(url),
    httpVersion: 'HTTP/1.1',
    queryString: encodesQuery
      ? query.map(([name, value]) => ({ name, value }))
      : query.map(([name, value]) => ({ name: queryName(name), value: inQuery(value) })),
    headers: pairs([...sent, ...type], 'header'),
    cookies: pairs(cookies, 'cookie'),
    headersSize: -1,
    bodySize: -1,
    ...(body !== undefined && { postData: bodyOf(body, write) }),
  };
}

function bodyOf(
  { mimeType, text, fields }: NonNullable<SampleRequest['body']>,
  write: (text: string, place: 'field' | 'part' | 'body') => string,
): Body {
  if (fields === undefined) {
    const short = text.length <= maxBody ? text : '{}';
    return { mimeType, text: isJson(mimeType) ? short : write(short, 'body') };
  }
  const hasParts = isParts(mimeType);
  const place = hasParts ? 'part' : 'field';
  return {
    mimeType: hasParts ? 'multipart/form-data' : mimeType,
    params: fields.map(([name, value]) => ({
      name: write(name, place),
      ...(hasParts && value === madeFile ? { fileName: 'file' } : { value: write(value, place) }),
    })),
  };
}

const isJson = (mimeType: string): boolean => /json/i.test(mimeType);

/** An address that ends no text between quotes in any language. What is behind `#` is never sent. */
const safeAddress = (url: string): string =>
  url
    .toWellFormed()
    .replace(/#.*$/s, '')
    .replaceAll(/['"`\\\s<>^|\p{Cc}]|[^\x00-\x7f]/gu, encoded);

/** A comma stays: it is what separates the items of a list. */
const inQuery = (value: string): string => encoded(value.toWellFormed()).replaceAll('%2C', ',');

/** A name stays readable: `filter[name]`, `$top`. */
const queryName = (name: string): string => inQuery(name).replaceAll(/%(?:5B|5D|24|2C|3A|40)/g, decodeURIComponent);

const encoded = (text: string): string => encodeURIComponent(text).replaceAll("'", '%27');

/** The command takes `@name` and `<name>` for files of the reader, and what is behind `;` for options. What could be one is marked, for `literally`. */
export function commandBody(har: Har, marks: TextMarks): Har {
  const { postData: body } = har;
  if (body === undefined) return har;
  const params = body.params?.map((param) =>
    isParts(body.mimeType) && /^[@<]|;/.test(param.value ?? '')
      ? { ...param, value: marks.always(param.value ?? '', 'part') }
      : param,
  );
  const text = body.text?.startsWith('@') === true ? marks.always(body.text, 'body') : body.text;
  return { ...har, postData: { ...body, ...(params && { params }), ...(text !== undefined && { text }) } };
}

export const literally = (code: string): string =>
  code
    .replaceAll(/^ {2}--form (?='.*=textmarkk*\d+e'(?: \\)?$)/gm, '  --form-string ')
    .replaceAll(/^ {2}--data(?:-binary)? (?='textmarkk*\d+e')/gm, '  --data-raw ');

/** The library has text only as JSON or as bytes, and forms with parts only with a type for each. */
export function pythonBody(har: Har, marks: TextMarks): Har {
  const { postData: body } = har;
  if (body === undefined) return har;
  if (isParts(body.mimeType)) {
    const params = (body.params ?? []).map((part) =>
      part.fileName === undefined ? { ...part, contentType: 'text/plain' } : part,
    );
    return { ...har, postData: { ...body, params } };
  }
  if (body.text === undefined) return har;
  if (isJson(body.mimeType) && isWholeJson(body.text))
    return { ...har, postData: { ...body, mimeType: 'application/json' } };
  const text = marks.always(body.text, 'body');
  return { ...har, postData: { ...body, mimeType: 'application/octet-stream', text } };
}

function isWholeJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The library writes cookies as if a server sent them. */
export function cookieHeader(har: Har): Har {
  if (har.cookies.length === 0) return har;
  const value = har.cookies.map((cookie) => `${encoded(cookie.name)}=${encoded(cookie.value)}`).join('; ');
  return { ...har, cookies: [], headers: [...har.headers, { name: 'Cookie', value }] };
}

/** The library escapes nothing of bytes but quotes; and it takes the words of a header `Authorization` apart. */
export function bytesAsText(har: Har, marks: TextMarks): Har {
  const { postData: body } = har;
  const isBytes = body?.mimeType === 'application/octet-stream' && body.text !== undefined;
  const headers = har.headers.map(({ name, value }) =>
    name.toLowerCase() === 'authorization' && !/^[\w-]+ \S+$/.test(value)
      ? { name: marks.always(name, 'header'), value }
      : { name, value },
  );
  return {
    ...har,
    headers,
    ...(body && { postData: isBytes ? { ...body, text: marks.mark(body.text ?? '', 'body') } : body }),
  };
}
