/** Path of a page as readers know it: `guides/x` for `guides/x.mdx`. */
export const pagePathOf = (file: string): string => file.replace(/\.mdx?$/i, '');

/** A title for a page that has none: its last name in words (`getting-started` → `Getting started`). */
export function titleFromPath(path: string): string {
  const names = path.split('/').filter((name) => name !== '');
  const last = names.at(-1) === 'index' && names.length > 1 ? names.at(-2) : names.at(-1);
  const words = (last ?? '').replaceAll(/[-_]+/g, ' ').trim();
  return words === '' ? 'Untitled' : words.charAt(0).toUpperCase() + words.slice(1);
}
