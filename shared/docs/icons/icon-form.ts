import { classifyUrl, isInlineImage } from '#shared/docs/project/url-policy.ts';
import { findIcon, type IconLibrary, type WrittenIcon } from './find-icon.ts';
import type { Drawing } from './icon-sets.ts';

/** Forms of an icon that an author may write. */
export type IconForm =
  | { kind: 'drawing'; drawing: Drawing; instead?: string }
  | { kind: 'emoji'; text: string }
  /** Address of the picture, as written. */
  | { kind: 'picture'; address: string }
  /** The icon is in no library. */
  | { kind: 'unknown' };

/** The form of a written icon: a name from a library, an emoji, or a picture of the project or of another site. */
export function iconForm(written: WrittenIcon, library: IconLibrary): IconForm {
  const name = written.name.trim();
  if (isPicture(name)) return { kind: 'picture', address: name };
  if (name.length <= 20 && emoji.test(name)) return { kind: 'emoji', text: name };
  const found = findIcon(written, library);
  return found === undefined ? { kind: 'unknown' } : { kind: 'drawing', ...found };
}

const isPicture = (name: string): boolean => /^(\.{0,2}\/|[a-z]+:)|\.(svg|png|jpe?g|gif|webp|avif|ico)$/i.test(name);
const emoji = /^(?=.*(\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3))[^a-z]+$/iu;

/** Location of a picture that is an icon in the navigation: a file of the project, an https address, or the picture as a `data:` URL. */
export function pictureOfIcon(address: string): string | undefined {
  if (isInlineImage(address)) return address;
  const url = classifyUrl(address);
  if (url.kind === 'external') return url.href.startsWith('https:') ? url.href : undefined;
  return url.kind === 'path' ? url.path.replace(/^(\.?\/)+/, '') : undefined;
}

/** Message for the author about a missing or replaced icon; undefined if the library has the icon. */
export function iconProblem({ name }: WrittenIcon, form: IconForm): string | undefined {
  const written = JSON.stringify(name.slice(0, 80).toWellFormed());
  if (form.kind === 'unknown')
    return `There is no icon ${written} in Font Awesome Free, Lucide or Tabler. Write the name of an icon that they have, or the path of a picture.`;
  if (form.kind !== 'drawing' || form.instead === undefined) return undefined;
  return `There is no icon ${written} in Font Awesome Free, Lucide or Tabler, so "${form.instead}" is shown. Write the name of an icon that they have, or the path of a picture.`;
}
