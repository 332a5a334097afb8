/** A request to show. Names in braces stay in its address. */
export type SampleRequest = {
  method: string;
  /** With everything but the query. */
  url: string;
  query: [string, string][];
  headers: [string, string][];
  cookies: [string, string][];
  body: SampleBody | undefined;
};

/** `fields`: of a form. `isFile`: the body is a file of the reader's. */
type SampleBody = { mimeType: string; text: string; fields?: SampleField[]; isFile?: true };

/** `mimeType`: of a part that has a type of its own. */
export type SampleField = { name: string; value: string; isFile?: true; mimeType?: string };

/** What is sent, in the terms of HTTP: nothing in it ends a line of it. */
export type SentRequest = {
  /** Upper case. */
  method: string;
  address: string;
  headers: [name: string, value: string][];
  /** The value of the header `Cookie`, or nothing. */
  cookies: string;
  /** `type`: the media type. A form with parts has none: its boundary is known to what sends it alone. */
  body:
    | { kind: 'json'; type: string; text: string }
    | { kind: 'text'; type: string; text: string }
    | { kind: 'file'; type: string }
    | { kind: 'parts'; parts: SampleField[] }
    | undefined;
};

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

/** Of a header or media type: a control, a line break among them, would be no part of it. */
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
  return { kind: /json/i.test(type) && isWholeJson(text) ? 'json' : 'text', type, text };
}

function sentPart({ name, value, isFile, mimeType }: SampleField): SampleField {
  const type = /^\s*([\w.+-]{1,60}\/[\w.+-]{1,60})\s*(?:[;,]|$)/.exec(mimeType ?? '')?.[1];
  return { name, value, ...(isFile === true && { isFile }), ...(type !== undefined && { mimeType: type }) };
}

const isParts = (mimeType: string): boolean => /^multipart\//i.test(mimeType);

function isWholeJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The file of the reader's that a form or a body has. */
export const sampleFile = 'file';

/** With the header `Cookie`, for what has no other place for cookies. */
export const allHeaders = ({ headers, cookies }: SentRequest): [string, string][] =>
  cookies === '' ? headers : [...headers, ['Cookie', cookies]];

/** The request with its parts as text, for what cannot write them; undefined: files are among them, which only a program can read. */
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

/** An address that has no quotes, spaces and controls. The part behind `#` is never sent. */
const safeAddress = (url: string): string =>
  url
    .toWellFormed()
    .replace(/#.*$/s, '')
    .replaceAll(/['"`\\\s<>^|\p{Cc}]|[^\x00-\x7f]/gu, encoded);

/** A comma stays, because it separates the items of a list, and so does a name in braces, because a reader fills it in. */
const inQuery = (value: string): string =>
  encoded(value)
    .replaceAll('%2C', ',')
    .replaceAll(/%7B([\w.-]{1,100})%7D/g, '{$1}');

/** A name stays readable: `filter[name]`, `$top`. */
const queryName = (name: string): string => inQuery(name).replaceAll(/%(?:5B|5D|24|3A|40)/g, decodeURIComponent);

const encoded = (text: string): string => encodeURIComponent(text.toWellFormed()).replaceAll("'", '%27');

/** As browsers write forms. */
const inForm = (text: string): string => encoded(text).replaceAll('%20', '+');
