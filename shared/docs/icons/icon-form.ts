import { classifyUrl, isInlineImage } from '#shared/docs/project/url-policy.ts';
import { findIcon, type IconLibrary, type WrittenIcon } from './find-icon.ts';
import type { Drawing } from './icon-sets.ts';

/** What an author may write where an icon goes. */
export type IconForm =
  | { kind: 'drawing'; drawing: Drawing; instead?: string }
  | { kind: 'emoji'; text: string }
  /** Address of a picture, as written. */
  | { kind: 'picture'; address: string }
  /** No library has it. */
  | { kind: 'unknown' };

/** What was written for an icon: a name of a library, an emoji, or a picture of the project or of another site. */
export function iconForm(written: WrittenIcon, library: IconLibrary): IconForm {
  const name = written.name.trim();
  if (isPicture(name)) return { kind: 'picture', address: name };
  if (name.length <= 20 && emoji.test(name)) return { kind: 'emoji', text: name };
  const found = findIcon(written, library);
  return found === undefined ? { kind: 'unknown' } : { kind: 'drawing', ...found };
}

const isPicture = (name: string): boolean => /^(\.{0,2}\/|[a-z]+:)|\.(svg|png|jpe?g|gif|webp|avif|ico)$/i.test(name);
const emoji = /^(?=.*(\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3))[^a-z]+$/iu;

/** Where the picture of an icon of the navigation is: a file of the project, an https address, or the picture itself as `data:`. */
export function pictureOfIcon(address: string): string | undefined {
  if (isInlineImage(address)) return address;
  const url = classifyUrl(address);
  if (url.kind === 'external') return url.href.startsWith('https:') ? url.href : undefined;
  return url.kind === 'path' ? url.path.replace(/^(\.?\/)+/, '') : undefined;
}

/** What an author should know about an icon; undefined when all is well. */
export function iconProblem({ name }: WrittenIcon, form: IconForm): string | undefined {
  const written = JSON.stringify(name.slice(0, 80).toWellFormed());
  if (form.kind === 'unknown')
    return `There is no icon ${written} in Font Awesome Free, Lucide or Tabler. Name one that they have, or the path of a picture.`;
  if (form.kind !== 'drawing' || form.instead === undefined) return undefined;
  return `There is no icon ${written} in Font Awesome Free, Lucide or Tabler, so "${form.instead}" is shown. Name one that they have, or the path of a picture.`;
}
