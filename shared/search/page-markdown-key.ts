import type { SearchScope } from './search-index.ts';

/** Object of a page's Markdown. Page paths are what authors make of them, and keys have fewer characters, so others are percent-encoded. */
export function pageMarkdownKey({ organization, domain, contentVersion }: SearchScope, path: string): string {
  const segments = path.split('/').map((segment) => segment.replaceAll(/[^A-Za-z0-9._~-]/gu, encoded));
  return `contents/${organization}/${domain}/${contentVersion}/markdown/${segments.join('/')}.md`;
}

/** `=` in place of `%`, which keys cannot have. */
const encoded = (character: string): string =>
  [...Buffer.from(character)].map((byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
