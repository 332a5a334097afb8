import type { FindingCode } from '#shared/docs/findings/finding-texts.ts';
import { posix } from 'node:path';
import { byPath, portableName } from '#shared/export/bundle/archive-names.ts';
import { bundlePathProblem } from '#shared/export/bundle/bundle-names.ts';
import { quoted, type Report } from './diagnostics.ts';

export type ProjectFile = { path: string; sha256: string; sizeBytes: number };

/** An unpacked docs project: its list of files, and a way to read the bytes of one file. */
export type ProjectFiles = {
  files: readonly ProjectFile[];
  /** Returns at least the first `maxBytes` of a file of `files`. Rejects if they cannot be read. */
  read(path: string, maxBytes: number): Promise<Uint8Array>;
};

/** Files without sizes and hashes, for code that reads only some of them. */
export type NamedFiles = {
  files: readonly { path: string }[];
  read: ProjectFiles['read'];
  /** False for a page that is known to name no API description (`mayNameDescription`), so that it need not be read to find out. */
  mayName?: (path: string) => boolean;
};

/** Maximum number of files of a project. */
export const mostProjectFiles = 200_000;
/** Larger sources are read one after the other, because a process that reads projects has 512 MB. */
export const largeSourceBytes = 256 * 1024;
const maxAssetBytes = 20 * 1024 * 1024;
const assetTypes = new Set(
  `png jpg jpeg gif webp svg ico avif mp4 webm mov mp3 wav ogg json yaml yml woff woff2 ttf otf eot pdf txt xml csv zip`.split(
    ' ',
  ),
);
export type FileKind = 'page' | 'code' | 'style' | 'script' | 'asset' | 'other';

export const extensionOf = (path: string): string => /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';

/** True for pages, snippets and scripts, whose text is read for their imports. */
export const isSource = (path: string): boolean => ['mdx', 'md', 'jsx', 'tsx', 'js', 'ts'].includes(extensionOf(path));

/** Possible kind of a file, by its name alone. `page` is a page or a snippet, `code` a snippet, `script` a script or a snippet. */
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

/** True for a file that no bundle has because of its size. */
export const isTooLarge = ({ sizeBytes }: Pick<ProjectFile, 'sizeBytes'>): boolean => sizeBytes > maxAssetBytes;

/**
 * The files that can be in a bundle, sorted by path. Left out and reported: names that are invalid on some system, names that are equal on many
 * systems (case, Unicode form), and files over 20 MB.
 */
export function usableFiles(files: readonly ProjectFile[], report: Report): ProjectFile[] {
  const taken = new Map<string, string>();
  return files.toSorted(byPath).filter((file) => {
    const { path } = file;
    const refuse = (code: FindingCode, message: string): false => {
      report({ severity: 'error', code, message, file: path.slice(0, 300).toWellFormed() });
      return false;
    };
    const problem = bundlePathProblem(path);
    if (problem) return refuse('bad-path', `The file ${quoted(path)} is left out: its path ${problem}. Rename it.`);
    const key = portableName(path);
    const other = taken.get(key);
    if (other !== undefined) {
      const message = `The file ${quoted(path)} is left out: ${quoted(other)} has the same name on many systems. Rename one of them.`;
      return refuse('path-collision', message);
    }
    if (isTooLarge(file))
      return refuse('file-too-large', `The file ${quoted(path)} is left out: it is larger than 20 MB.`);
    taken.set(key, path);
    return true;
  });
}

/** Maps page paths to files. `x.mdx` takes precedence over `x.md`. `x` and `x/index` may both exist, but readers find only one of them. */
export function filesByPagePath(
  files: readonly ProjectFile[],
  ignored: (path: string) => boolean,
  report: Report,
): Map<string, string> {
  const byPath = new Map<string, string>();
  for (const { path: file } of files) {
    if (fileKind(file) !== 'page') continue;
    const path = pagePathOf(file);
    const other = byPath.get(path);
    if (other !== undefined) {
      const message = `${quoted(other)} and ${quoted(file)} would be the same page; the .mdx file is. Rename or remove the other one.`;
      report({ severity: 'warning', code: 'page-collision', message, file });
    }
    if (other === undefined || file.endsWith('.mdx')) byPath.set(path, file);
  }
  for (const [path, file] of byPath) {
    const folder = path.endsWith('/index') ? path.slice(0, -'/index'.length) : undefined;
    const other = folder === undefined ? undefined : byPath.get(folder);
    if (other === undefined || ignored(file) || ignored(other)) continue;
    const message = `${quoted(other)} and ${quoted(file)} have the same address "/${folder}". Rename one of them.`;
    report({ severity: 'warning', code: 'page-collision', message, file });
  }
  return byPath;
}

/** The project path of a reference in `from`; a leading slash means the project's root. Undefined if it points outside the project. */
export function resolvePath(reference: string, from: string): string | undefined {
  const path = posix.join(reference.startsWith('/') ? '.' : posix.dirname(from), `./${reference}`);
  return path === '..' || path.startsWith('../') ? undefined : path;
}

/** The file that a path in docs.json names, which begins with a slash, with `./` or with a name. Undefined if it is not in the project. */
export function fileOfSetting(path: string, isFile: (path: string) => boolean): string | undefined {
  const file = resolvePath(path, '');
  return file !== undefined && isFile(file) ? file : undefined;
}

/** Page path: `guides/x` for `guides/x.mdx`. */
export const pagePathOf = (file: string): string => file.replace(/\.mdx?$/i, '');

/** A title for a page without one: the last part of its path in words (`getting-started` → `Getting started`). */
export function titleFromPath(path: string): string {
  const names = path.split('/').filter((name) => name !== '');
  const last = names.at(-1) === 'index' && names.length > 1 ? names.at(-2) : names.at(-1);
  const words = (last ?? '').replaceAll(/[-_]+/g, ' ').trim();
  return words === '' ? 'Untitled' : words.charAt(0).toUpperCase() + words.slice(1);
}

export const sniffedBytes = 64 * 1024;

/** True if these bytes of a JSON or YAML file are those of an OpenAPI or AsyncAPI description. */
export function isSpec(bytes: Uint8Array, path: string): boolean {
  const text = new TextDecoder().decode(bytes);
  // The content of a YAML file may be JSON.
  if (path.toLowerCase().endsWith('.json') || /^\s*\{/.test(text))
    return /"(?:openapi|asyncapi|swagger)"\s*:\s*"\d/.test(text);
  return /^(?:openapi|asyncapi|swagger)["']?\s*:\s*["']?\d/m.test(text);
}

const topKeys = [
  'info|paths|servers|components|definitions|tags|security|securityDefinitions|webhooks|channels|operations|parameters|responses',
  'host|basePath|schemes|consumes|produces|externalDocs|defaultContentType|jsonSchemaDialect|id|x-[\\w-]+',
].join('|');
const jsonTop = new RegExp(`^\\s*\\{\\s*"(?:${topKeys})"\\s*:`);
const yamlTop = new RegExp(`^(?:${topKeys})\\s*:`, 'm');

/** True if the file may be an API description whose key `openapi` or `asyncapi` follows after the first 64 KB, because generators sort keys. */
export function mayBeSpec(firstBytes: Uint8Array, path: string): boolean {
  if (firstBytes.length < sniffedBytes) return false;
  const text = new TextDecoder().decode(firstBytes);
  return (path.toLowerCase().endsWith('.json') ? jsonTop : yamlTop).test(text);
}
