/*
 * Data that the page of an operation passes to `_bindery/playground.js`, as JSON in the page. `reference/operation-form.ts` makes it from an API
 * description, and `api-page-form.ts` from the fields of a page. An absent member counts as false, empty or the default.
 */

export type PlaygroundForm = {
  /** Method in upper case. */
  method: string;
  /** Path below the server, with the names of its parameters in braces. */
  path: string;
  servers: FormServer[];
  /** Parameters in order. */
  fields: FormField[];
  /** Alternative sets of credentials; a request needs one of them. An empty set means that it may need none. */
  auth: FormCredential[][];
  /** One body for each media type that the server accepts. */
  bodies: FormBody[];
  /** Present if fields are prefilled with the examples. */
  prefill?: true;
};

export type FormServer = {
  /** Address as written: it may contain names of variables in braces, and may be relative to the site. The scheme is http or https. */
  url: string;
  description?: string;
  variables?: Record<string, { value: string; values?: string[] }>;
};

/** `object`: a text in JSON. `files`: any number of files. */
type FieldKind = 'text' | 'boolean' | 'list' | 'object' | 'file' | 'files';

export type FormField = {
  in: 'path' | 'query' | 'header' | 'cookie' | 'form';
  name: string;
  kind: FieldKind;
  /** Type as shown to the reader: `string<date-time>`. */
  type: string;
  required?: true;
  deprecated?: true;
  /** Allowed values; for a list, those of its items. */
  values?: string[];
  /** Example; a list has one value per line. */
  example?: string;
  /** Default value of the server. */
  fallback?: string;
  /** Serialization of lists and objects by OpenAPI. */
  style?: string;
  explode?: boolean;
  /** Present if the value is serialized as JSON. */
  json?: true;
  /** Present if reserved characters are not encoded. */
  reserved?: true;
  /** Media type of a part of a form. */
  mimeType?: string;
};

export type FormCredential = {
  /** `token`: `<scheme> <value>` in the header `Authorization`. */
  kind: 'token' | 'basic' | 'key';
  /** Name of the credentials in the API description. */
  title: string;
  in: 'header' | 'query' | 'cookie';
  /** Name of the header, parameter or cookie. */
  name: string;
  scheme?: string;
};

export type FormBody = {
  mimeType: string;
  required?: true;
  /** Initial text of the body. */
  text?: string;
  /** Fields of a form. */
  fields?: FormField[];
  /** Present if the body is a file. */
  file?: true;
};

/** Texts that only the form has. */
export type PlaygroundWord =
  | 'tryIt'
  | 'send'
  | 'sending'
  | 'cancel'
  | 'close'
  | 'serverAddress'
  | 'token'
  | 'username'
  | 'password'
  /** Option for no value and no credentials in lists of choices. */
  | 'notSet'
  | 'oneValuePerLine'
  | 'file'
  | 'credentialsNote'
  | 'download'
  | 'noBody'
  | 'onlyBeginning'
  | 'visibleHeaders'
  /** Messages about values that cannot be sent, with a remedy. `{name}` and `{names}` are fields, `{method}` is the HTTP method. */
  | 'enterServer'
  | 'fillIn'
  | 'badValue'
  | 'badHeader'
  | 'badJson'
  | 'onlyInCommand'
  | 'methodNotSent'
  | 'needsHttps'
  /** Messages in place of a response. `{origin}` is the origin of the page, `{server}` that of the server, `{seconds}` a number. */
  | 'cancelled'
  | 'timedOut'
  | 'noAnswer'
  | 'noAnswerHelp'
  | 'redirected';

/** Texts that the form shares with the page. */
type SharedWord =
  | 'servers'
  | 'authorizations'
  | 'pathParameters'
  | 'queryParameters'
  | 'headers'
  | 'cookies'
  | 'body'
  | 'request'
  | 'response'
  | 'required'
  | 'deprecated'
  | 'defaultValue'
  | 'copy';

/** Content of `_bindery/playground/<language>.js`. */
export type PlaygroundTexts = Record<PlaygroundWord | SharedWord, string>;
