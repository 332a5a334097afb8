/*
 * What the page of an operation says to `_bindery/playground.js`, as JSON in the page. `reference/operation-form.ts` makes it from a description
 * of an interface, and `api-page-form.ts` from the fields of a page. What is absent is false, empty or the usual.
 */

export type PlaygroundForm = {
  /** Upper case. */
  method: string;
  /** Below the server, with the names of its parameters in braces. */
  path: string;
  servers: FormServer[];
  /** Parameters in their order. */
  fields: FormField[];
  /** Sets of credentials of which a request needs one; an empty one: it needs none. */
  auth: FormCredential[][];
  /** One for each media type that the server takes. */
  bodies: FormBody[];
  /** Fields are filled with the examples. */
  prefill?: true;
};

export type FormServer = {
  /** As written: with names of variables in braces, maybe relative to the site. Never of another scheme than http and https. */
  url: string;
  description?: string;
  variables?: Record<string, { value: string; values?: string[] }>;
};

/** `object`: a text in JSON. `files`: any number of them. */
type FieldKind = 'text' | 'boolean' | 'list' | 'object' | 'file' | 'files';

export type FormField = {
  in: 'path' | 'query' | 'header' | 'cookie' | 'form';
  name: string;
  kind: FieldKind;
  /** As a reader sees it: `string<date-time>`. */
  type: string;
  required?: true;
  deprecated?: true;
  /** All that are allowed, of a list those of its items. */
  values?: string[];
  /** One value a line for a list. */
  example?: string;
  /** What the server takes where nothing is sent. */
  fallback?: string;
  /** By OpenAPI: how lists and objects are written. */
  style?: string;
  explode?: boolean;
  /** It is written as JSON, whatever it is. */
  json?: true;
  /** Reserved characters stay as they are. */
  reserved?: true;
  /** Media type of a part of a form. */
  mimeType?: string;
};

export type FormCredential = {
  /** `token`: `<scheme> <value>` in the header `Authorization`. */
  kind: 'token' | 'basic' | 'key';
  /** Its name in the specification. */
  title: string;
  in: 'header' | 'query' | 'cookie';
  /** Of the header, parameter or cookie. */
  name: string;
  scheme?: string;
};

export type FormBody = {
  mimeType: string;
  required?: true;
  /** What a text begins with. */
  text?: string;
  /** Of a form. */
  fields?: FormField[];
  /** It is a file. */
  file?: true;
};

/** Words of the form alone. */
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
  /** Stands in lists of choices for no value and no credentials. */
  | 'notSet'
  | 'oneValuePerLine'
  | 'file'
  | 'credentialsNote'
  | 'download'
  | 'noBody'
  | 'onlyBeginning'
  | 'visibleHeaders'
  /** Sentences about what cannot be sent, and what to do. `{name}` and `{names}` are those of fields, `{method}` is that of HTTP. */
  | 'enterServer'
  | 'fillIn'
  | 'badValue'
  | 'badHeader'
  | 'badJson'
  | 'onlyInCommand'
  | 'methodNotSent'
  | 'needsHttps'
  /** Sentences in the place of an answer. `{origin}` is that of the page, `{server}` that of the server, `{seconds}` a number. */
  | 'cancelled'
  | 'timedOut'
  | 'noAnswer'
  | 'noAnswerHelp'
  | 'redirected';

/** Words that it shares with the page. */
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

/** `_bindery/playground/<language>.js`. */
export type PlaygroundTexts = Record<PlaygroundWord | SharedWord, string>;
