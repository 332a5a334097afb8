import { posix } from 'node:path';
import { fencedLines } from './fenced-lines.ts';

export type ScannedSource = {
  /** As written: `/snippets/x.mdx`, `./x.jsx`, `react`. */
  imports: string[];
  /** `file` of `<Snippet file="…">`. */
  snippetFiles: string[];
  /** `/`-rooted, without query and anchor; sorted, each once. A superset: what looks like a path counts. */
  linkTargets: string[];
};

const importStatement = /\bfrom[ \t]*['"]([^'"\n]{1,500})['"]|^[ \t]*import[ \t]*['"]([^'"\n]{1,500})['"]/gm;
const snippetElement = /<Snippet\b[^>]{0,500}?\bfile\s*=\s*\{?\s*["'`]([^"'`\n]{1,500})["'`]/g;
const markdownTarget = /\]\(\s*<?([^\s)>]{1,1000})|^[ \t>]*\[[^\]\n]{1,500}\]:[ \t]*<?([^\s>]{1,1000})/gm;
const quotedPath = /["'`]((?:\/|\.\.?\/)[^"'`\s{}<>\\]{0,1000})["'`]/g;
const attributeTarget = /\b(?:href|src|img|url|root|icon|poster|file)\s*=\s*\{?\s*["'`]([^"'`\s{}<>\\]{1,1000})["'`]/g;

/** What a page or snippet refers to, found without parsing it. `file` is its path in the project, from which relative targets count. */
export function scanSource(text: string, file: string): ScannedSource {
  const imports =
    text.includes('from') || text.includes('import') ? firstGroups(withoutFences(text), importStatement) : [];
  const snippetFiles = text.includes('<Snippet') ? firstGroups(text, snippetElement) : [];
  const targets = new Set<string>();
  for (const pattern of [markdownTarget, quotedPath, attributeTarget]) {
    for (const found of firstGroups(text, pattern)) {
      const target = rooted(found, file);
      if (target !== undefined) targets.add(target);
    }
  }
  return { imports, snippetFiles, linkTargets: [...targets].sort() };
}

/** Imports in fenced code are examples. */
function withoutFences(text: string): string {
  if (!text.includes('```') && !text.includes('~~~')) return text;
  const lines = text.split('\n');
  const fenced = fencedLines(lines);
  return lines.filter((_line, index) => !fenced[index]).join('\n');
}

const firstGroups = (text: string, pattern: RegExp): string[] =>
  Array.from(text.matchAll(pattern), (match) => match[1] ?? match[2] ?? '');

function rooted(target: string, file: string): string | undefined {
  if (/^(?:[a-z][a-z0-9+.-]*:|\/\/|#)/i.test(target)) return undefined;
  const [path = ''] = target.split(/[?#]/, 1);
  if (path === '' || path.length > 500 || !/^[/.\p{L}\p{N}_@-]/u.test(path)) return undefined;
  const normal = path.startsWith('/') ? posix.normalize(path) : posix.join('/', posix.dirname(file), path);
  return normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal;
}
