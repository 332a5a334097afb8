/** Takes the lines of a converted page. `at`: line in the source, from 1. */
export type LineSink = {
  line: (text: string, at: number) => void;
  /** A line with a tag, which needs blank lines around it so that Markdown beside it is read as such. */
  tag: (text: string, at: number) => void;
  left: (at: number, what: string) => void;
};

/** Callouts by the kinds that the four generators and Material for MkDocs know. */
const callouts: Record<string, string> = {
  note: 'Note',
  abstract: 'Info',
  summary: 'Info',
  tldr: 'Info',
  info: 'Info',
  important: 'Info',
  todo: 'Info',
  tip: 'Tip',
  hint: 'Tip',
  success: 'Check',
  check: 'Check',
  done: 'Check',
  question: 'Info',
  help: 'Info',
  faq: 'Info',
  warning: 'Warning',
  caution: 'Warning',
  attention: 'Warning',
  failure: 'Danger',
  fail: 'Danger',
  missing: 'Danger',
  danger: 'Danger',
  error: 'Danger',
  bug: 'Danger',
  example: 'Note',
  quote: 'Note',
  cite: 'Note',
  seealso: 'Note',
};

/** The component for a kind of admonition; undefined for one that is not known. */
export const calloutOf = (kind: string): string | undefined => {
  const name = kind.toLowerCase();
  return Object.hasOwn(callouts, name) ? callouts[name] : undefined;
};

/** A value of a component's property, quoted. */
export const attributeText = (text: string): string =>
  `"${text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('{', '&#123;').replaceAll('<', '&lt;')}"`;

/** The values of a tag's properties that are text. */
export function attributesOf(tag: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [, name = '', , text, literal] of tag.matchAll(/([\w:-]+)=(?:(["'])(.*?)\2|\{\s*["'`](.*?)["'`]\s*\})/gs))
    found[name] = text ?? literal ?? '';
  return found;
}

/** Stands for a line break that a rule adds, until all rules have run: the lines that they report are those of the source. */
export const addedBreak = '\ue002';

/** A callout of a tag with a type, such as `<Aside type="tip">`, with tags on lines of their own. */
export const openCallout = (component: string | undefined, title: string | undefined): string =>
  [
    `<Callout type="${(component ?? 'Note').toLowerCase()}">`,
    ...(title === undefined ? [] : [`**${title}**`]),
    '',
  ].join(`${addedBreak}${addedBreak}`);

export const closeCallout = `${addedBreak}${addedBreak}</Callout>`;
