import type { ScriptTexts } from '#shared/docs/render/site/page-globals.ts';
import type { PlaygroundWord } from '#shared/docs/render/site/playground-form.ts';

/**
 * All words of ours that a reader sees or hears: those of the frame, of the components and of the scripts. Each language has a file with
 * all of them. Names in braces are replaced; a translation may put them anywhere.
 */
export type InterfaceTexts = {
  skipToContent: string;
  /** Names of the landmarks, for screen readers: sidebar, links in the header, tabs, trail to the page, previous and next page. */
  documentation: string;
  siteLinks: string;
  sections: string;
  breadcrumbs: string;
  pages: string;
  switchTheme: string;
  /** Closes the banner. */
  dismiss: string;
  onThisPage: string;
  previous: string;
  next: string;
  /** The menu of a page, its name first. In `openIn`, `{name}` is an assistant of others. */
  page: Record<'menu' | 'copy' | 'view' | 'openIn', string>;
  /** `{date}` is a whole date, such as 5 January 2026. */
  lastModified: string;
  /** A mark beside the title of a page. */
  deprecatedPage: string;
  /** Kinds of callouts, for screen readers. */
  note: string;
  info: string;
  tip: string;
  check: string;
  warning: string;
  danger: string;
  /** Titles of the examples beside a page of an interface. */
  request: string;
  response: string;
  /** Opens the properties of the field `{title}`. */
  show: string;
  showProperties: string;
  /** Marks of a field; `defaultValue` stands before the value, with its colon. */
  required: string;
  deprecated: string;
  defaultValue: string;
  /** A link in a tooltip that has no words of its own. */
  learnMore: string;
  prompt: string;
  showPrompt: string;
  /** Titles of a tab, a block of code and an entry of a changelog that have none. */
  tab: string;
  code: string;
  update: string;
  linkToSection: string;
  /** Title of a frame that has none. */
  embeddedContent: string;
  /** In the place of an image that is not there and has no description. */
  missingImage: string;
  footnotes: string;
  /** `{number}` is that of the footnote. */
  backToReference: string;
  pageNotRendered: string;
  /** Sections and words of a page that is made from the description of an interface. Those with a colon stand before a list. */
  reference: Record<ReferenceWord, string>;
  /** The form that sends a request from a page of an interface. */
  playground: Record<PlaygroundWord, string>;
  notFound: string;
  notFoundText: string;
  /** `{site}` is the name of the site. */
  startPage: string;
  /** On a page that only leads to another. */
  moved: string;
  goToPage: string;
  scripts: ScriptTexts;
};

type ReferenceWord =
  | 'servers'
  | 'messages'
  | 'messagesYouSend'
  | 'messagesYouReceive'
  | 'reply'
  | 'bindings'
  | 'authorizations'
  | 'pathParameters'
  | 'queryParameters'
  | 'headers'
  | 'cookies'
  | 'body'
  | 'responses'
  | 'callbacks'
  | 'oneOf'
  /** Behind a list of credentials. */
  | 'orNone'
  | 'anyOf'
  | 'allowedValues'
  | 'example'
  | 'readOnly'
  | 'writeOnly';

/** A text with its names in braces replaced. */
export function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (written, name: string) => values[name] ?? written);
}
