import { archivePathProblem } from '#shared/bundle/archive-path.ts';
import type { Report } from './diagnostic-list.ts';
import type { ProjectFile } from './project-files.ts';
import { quoted } from './quoted.ts';

const MAX_ASSET_BYTES = 20 * 1024 * 1024;
const assetTypes = new Set(
  `png jpg jpeg gif webp svg ico avif mp4 webm mov mp3 wav ogg json yaml yml woff woff2 ttf otf eot pdf txt xml csv zip`.split(
    ' ',
  ),
);
/** Names that Windows gives to devices: a bundle with one of them cannot be unpacked there. */
const reservedName = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?$/i;

export type FileKind = 'page' | 'code' | 'style' | 'script' | 'asset' | 'other';

export const extensionOf = (path: string): string => /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';

/** What a file may be, by its name alone. `page` is a page or a snippet, `code` a snippet, `script` a script or a snippet. */
export function fileKind(path: string): FileKind {
  const extension = extensionOf(path);
  if (/(?:^|\/)\.(?!well-known\/)/.test(path)) return 'other';
  if (path.toLowerCase() === 'skill.md') return 'asset';
  if (extension === 'mdx' || extension === 'md') return 'page';
  if (extension === 'jsx' || extension === 'tsx') return 'code';
  if (extension === 'css') return 'style';
  if (extension === 'js') return 'script';
  return assetTypes.has(extension) ? 'asset' : 'other';
}

/**
 * The files that can be in a bundle, sorted by path. Left out and reported: names that no archive may have, names that only differ by
 * case or by Unicode form from another one (they would be one file on many systems), and files over 20 MB.
 */
export function usableFiles(files: readonly ProjectFile[], report: Report): ProjectFile[] {
  const taken = new Map<string, string>();
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : Number(a.path > b.path)));
  return sorted.filter(({ path, sizeBytes }) => {
    const refuse = (code: string, message: string): false => {
      report({ severity: 'error', code, message, file: path.slice(0, 300).toWellFormed() });
      return false;
    };
    const reserved = path.split('/').find((name) => reservedName.test(name));
    const problem =
      archivePathProblem(path) ?? (reserved ? `has the name "${reserved}", which Windows reserves` : undefined);
    if (problem) return refuse('bad-path', `The file ${quoted(path)} is left out: its path ${problem}. Rename it.`);
    const key = path.normalize('NFC').toLowerCase();
    const other = taken.get(key);
    if (other !== undefined) {
      const message = `The file ${quoted(path)} is left out: ${quoted(other)} has the same name on many systems. Rename one of them.`;
      return refuse('path-collision', message);
    }
    if (sizeBytes > MAX_ASSET_BYTES)
      return refuse('file-too-large', `The file ${quoted(path)} is left out: it is larger than 20 MB.`);
    taken.set(key, path);
    return true;
  });
}
