/** Placeholder for a file. */
export const madeFile = '<file>';

type Format = { example: string; form?: RegExp };

const date = String.raw`\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])`;
const time = String.raw`(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-][01]\d:?[0-5]\d)`;
const host = /^(?=.{1,253}$)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;
const address = /^[a-z][a-z\d+.-]*:[^\s<>"{}|\\^`]+$/i;
const reference = /^[^\s<>"{}|\\^`]*$/;
const pointer = /^(?:\/(?:[^~/]|~[01])*)*$/;

const email: Format = { example: 'jsmith@example.com', form: /^[^\s@<>()]+@[a-z\d-]+(?:\.[a-z\d-]+)*$/i };
const uri: Format = { example: 'https://example.com', form: address };

/** Formats of texts, each with an example and a pattern. */
const formats: Readonly<Record<string, Format>> = {
  'date-time': { example: '2023-11-07T05:31:56Z', form: new RegExp(`^${date}[Tt ]${time}$`) },
  date: { example: '2023-12-25', form: new RegExp(`^${date}$`) },
  time: { example: '05:31:56Z', form: new RegExp(`^${time}$`) },
  duration: { example: 'P3D', form: /^P(?=.)(?:\d+[YMWD])*(?:T(?:\d+[HMS])+)?$/ },
  uuid: {
    example: '3c90c3cc-0d44-4b50-8888-8dd25736052a',
    form: /^(?:urn:uuid:)?[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i,
  },
  email,
  'idn-email': email,
  uri,
  url: uri,
  iri: uri,
  'uri-reference': { example: '/path', form: reference },
  'iri-reference': { example: '/path', form: reference },
  'uri-template': { example: 'https://example.com/{id}' },
  hostname: { example: 'example.com', form: host },
  'idn-hostname': { example: 'example.com' },
  ipv4: { example: '192.0.2.1', form: /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.|$)){4}(?<!\.)$/ },
  ipv6: { example: '2001:db8::1', form: /^(?=.*:.*:)[\da-f:.]{2,45}$/i },
  regex: { example: '^[a-z]+$' },
  'json-pointer': { example: '/name', form: pointer },
  'relative-json-pointer': { example: '0/name', form: /^\d+(?:#|\/.*)?$/ },
  binary: { example: madeFile },
  byte: { example: 'aGVsbG8=', form: /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/ },
};

const formatOf = (name: string): Format | undefined => (Object.hasOwn(formats, name) ? formats[name] : undefined);

export const exampleOfFormat = (name: string): string | undefined => formatOf(name)?.example;

/** True if a text has a format. An unknown format allows every text. */
export const fitsFormat = (text: string, name: string): boolean => formatOf(name)?.form?.test(text) ?? true;
