import { jsonIn } from '#shared/runtime/canonical-json.ts';

/** A request for code samples. Names in braces stay in its address. */
export type SampleRequest = {
  method: string;
  /** The whole address except the query. */
  url: string;
  query: [string, string][];
  headers: [string, string][];
  cookies: [string, string][];
  body: SampleBody | undefined;
};

/** The body of a request. `fields` are the fields of a form. `isFile` is true if the body is a file of the reader. */
type SampleBody = { mimeType: string; text: string; fields?: SampleField[]; isFile?: true };

/** A field of a form. `mimeType` is set for a part with a separate media type. */
export type SampleField = { name: string; value: string; isFile?: true; mimeType?: string };

/** The request in terms of HTTP: no value contains a line break that would end its line. */
export type SentRequest = {
  /** Method in upper case. */
  method: string;
  address: string;
  headers: [name: string, value: string][];
  /** The value of the header `Cookie`, or ''. */
  cookies: string;
  /** `type` is the media type. A multipart form has none, because only the sending program knows its boundary. */
  body:
    | { kind: 'json'; type: string; text: string }
    | { kind: 'text'; type: string; text: string }
    | { kind: 'file'; type: string }
    | { kind: 'parts'; parts: SampleField[] }
    | undefined;
};

/** Converts a request to the form that is sent: encoded address and cookies, headers in one line, and the media type of its body. */
export function sentRequest({ method, url, query, headers, cookies, body }: SampleRequest): SentRequest {
  const sent = sentBody(body);
  const type: [string, string][] = sent === undefined || sent.kind === 'parts' ? [] : [['Content-Type', sent.type]];
  const search = query.map(([name, value]) => `${queryName(name)}=${inQuery(value)}`).join('&');
  const address = safeAddress(url);
  return {
    method: /^[a-z]{1,20}$/i.test(method) ? method.toUpperCase() : 'GET',
    address: search === '' ? address : `${address}${address.includes('?') ? '&' : '?'}${search}`,
    headers: [...headers, ...type].flatMap(([name, value]): [string, string][] =>
      headerName.test(name) ? [[name, inLine(value)]] : [],
    ),
    cookies: cookies.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('; '),
    body: sent,
  };
}

const headerName = /^[!#$%&'*+.^_`|~\w-]+$/;

/** A header or media type without control characters such as line breaks, which are not allowed in it. */
const inLine = (text: string): string => text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();

function sentBody(body: SampleBody | undefined): SentRequest['body'] {
  if (body === undefined) return undefined;
  const type = inLine(body.mimeType);
  const { fields, text } = body;
  if (fields !== undefined && isParts(type))
    return { kind: 'parts', parts: fields.filter(({ name }) => name !== '').map(sentPart) };
  if (fields !== undefined)
    return { kind: 'text', type, text: fields.map(({ name, value }) => `${inForm(name)}=${inForm(value)}`).join('&') };
  if (body.isFile === true) return { kind: 'file', type };
  return { kind: /json/i.test(type) && jsonIn(text) !== undefined ? 'json' : 'text', type, text };
}

function sentPart({ name, value, isFile, mimeType }: SampleField): SampleField {
  const type = /^\s*([\w.+-]{1,60}\/[\w.+-]{1,60})\s*(?:[;,]|$)/.exec(mimeType ?? '')?.[1];
  return { name, value, ...(isFile === true && { isFile }), ...(type !== undefined && { mimeType: type }) };
}

const isParts = (mimeType: string): boolean => /^multipart\//i.test(mimeType);

/** Name of the reader's file in a form or body. */
export const sampleFile = 'file';

/** Headers including `Cookie`, for languages without another place for cookies. */
export const allHeaders = ({ headers, cookies }: SentRequest): [string, string][] =>
  cookies === '' ? headers : [...headers, ['Cookie', cookies]];

/** The request with its parts as text, for languages that cannot write parts; undefined if it contains files, which only a program can read. */
export function withPartsAsText(request: SentRequest): SentRequest | undefined {
  if (request.body?.kind !== 'parts') return request;
  const written = textOfParts(request.body.parts);
  if (written === undefined) return undefined;
  const type = `multipart/form-data; boundary=${written.boundary}`;
  const headers: SentRequest['headers'] = [...request.headers, ['Content-Type', type]];
  return { ...request, headers, body: { kind: 'text', type, text: written.text } };
}

function textOfParts(parts: readonly SampleField[]): { boundary: string; text: string } | undefined {
  if (parts.some(({ isFile }) => isFile)) return undefined;
  let boundary = 'form-boundary';
  while (parts.some(({ name, value }) => name.includes(boundary) || value.includes(boundary))) boundary += '-';
  const inName = (name: string): string => name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const written = parts.map(({ name, value, mimeType }) => {
    const type = mimeType === undefined ? '' : `Content-Type: ${mimeType}\r\n`;
    return `--${boundary}\r\nContent-Disposition: form-data; name="${inName(name)}"\r\n${type}\r\n${value}\r\n`;
  });
  return { boundary, text: `${written.join('')}--${boundary}--\r\n` };
}

/** An address without quotes, spaces and control characters. The fragment is removed, because it is never sent. */
const safeAddress = (url: string): string =>
  url
    .toWellFormed()
    .replace(/#.*$/s, '')
    .replaceAll(/['"`\\\s<>^|\p{Cc}]|[^\x00-\x7f]/gu, encoded);

/** Encodes a value, except commas, which separate the items of a list, and names in braces, which the reader fills in. */
const inQuery = (value: string): string =>
  encoded(value)
    .replaceAll('%2C', ',')
    .replaceAll(/%7B([\w.-]{1,100})%7D/g, '{$1}');

/** Encodes a name, but keeps it readable: `filter[name]`, `$top`. */
const queryName = (name: string): string => inQuery(name).replaceAll(/%(?:5B|5D|24|3A|40)/g, decodeURIComponent);

const encoded = (text: string): string => encodeURIComponent(text.toWellFormed()).replaceAll("'", '%27');

/** Encodes text as browsers do in forms. */
const inForm = (text: string): string => encoded(text).replaceAll('%20', '+');
