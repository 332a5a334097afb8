import type { ScriptTexts } from '#shared/docs/render/site/page-globals.ts';
import type { PlaygroundWord } from '#shared/docs/render/site/playground-form.ts';

/**
 * All texts of the interface that a reader sees or hears: in the frame, the components and the scripts. Each language has a file with all of them.
 * Names in braces are replaced; a translation may put them anywhere.
 */
export type InterfaceTexts = {
  skipToContent: string;
  /** Names of the landmarks, for screen readers: sidebar, links in the header, tabs, breadcrumbs, previous and next page. */
  documentation: string;
  siteLinks: string;
  sections: string;
  breadcrumbs: string;
  pages: string;
  switchTheme: string;
  /** Label of the button that closes the banner. */
  dismiss: string;
  onThisPage: string;
  previous: string;
  next: string;
  /** The menu of a page, its name first. In `openIn`, `{name}` is an external assistant. */
  page: Record<'menu' | 'copy' | 'view' | 'openIn', string>;
  /** `{date}` is a whole date, such as 5 January 2026. */
  lastModified: string;
  /** Mark beside the title of a deprecated page. */
  deprecatedPage: string;
  /** Kinds of callouts, for screen readers. */
  note: string;
  info: string;
  tip: string;
  check: string;
  warning: string;
  danger: string;
  /** Titles of the examples beside an API page. */
  request: string;
  response: string;
  /** Labels of the button that opens the properties of a field; `{title}` is the field. */
  show: string;
  showProperties: string;
  /** Marks of a field. `defaultValue` is a label in front of the value, with its colon. */
  required: string;
  deprecated: string;
  defaultValue: string;
  /** Text of a link in a tooltip that names none. */
  learnMore: string;
  prompt: string;
  showPrompt: string;
  /** Titles of a tab, a code block and a changelog entry without a title. */
  tab: string;
  code: string;
  update: string;
  linkToSection: string;
  /** Title of an embedded frame without a title. */
  embeddedContent: string;
  /** Placeholder for a missing image without a description. */
  missingImage: string;
  footnotes: string;
  /** `{number}` is the number of the footnote. */
  backToReference: string;
  pageNotRendered: string;
  /** Sections and words of a page that is made from an API description. Texts with a colon are labels of a list. */
  reference: Record<ReferenceWord, string>;
  /** The form that sends a request from an API page. */
  playground: Record<PlaygroundWord, string>;
  notFound: string;
  notFoundText: string;
  /** `{site}` is the name of the site. */
  startPage: string;
  /** Shown on a page that only redirects to another. */
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
  /** Shown after a list of credentials. */
  | 'orNone'
  | 'anyOf'
  | 'allowedValues'
  | 'example'
  | 'readOnly'
  | 'writeOnly';

/** Replaces the names in braces of a text. */
export function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (written, name: string) => values[name] ?? written);
}
