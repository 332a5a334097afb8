import type { Finding } from '#shared/docs/findings/finding-texts.ts';
import { posix } from 'node:path';
import { messageOf } from '#shared/runtime/failures.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { decodeSource } from './decode-source.ts';
import type { Report } from './diagnostics.ts';
import { jsonCopy, type JsonObject } from './json-values.ts';
import { withoutPictures } from './inline-pictures.ts';
import { cssAddresses } from './css-addresses.ts';
import { pictureAddresses } from './picture-addresses.ts';
import { remoteStem } from '#shared/docs/reference/remote-files.ts';
import { leadingTitle } from './leading-title.ts';
import { type Frontmatter, parseFrontmatter } from './parse-frontmatter.ts';
import { fencedLines, prepareSource } from './prepare-source.ts';
import {
  extensionOf,
  isSource,
  largeSourceBytes,
  type ProjectFile,
  type ProjectFiles,
  resolvePath,
} from './project-files.ts';
import { openReadings, type Reading, type Readings } from './readings.ts';
import { maxSourceBytes, sourceTooLarge } from './source-limits.ts';

export type ReadSource = {
  entry: ProjectFile;
  frontmatter: JsonObject;
  /** The heading at the start of the page, which is its title if the frontmatter has none. */
  leadingTitle?: string | undefined;
  /** True if the frontmatter seems to name groups that cannot be read. */
  groupsUnreadable: boolean;
  /** Project files that it imports or includes directly. */
  imports: string[];
  linkTargets: string[];
  /** `{{names}}` in its text that have no value. */
  undefinedVariables: string[];
};

const parallelReads = 32;

/**
 * Reads pages, snippets and all their imports: frontmatter, imports, link targets. Each file is read once, or not at all if its reading is known. A file
 * that cannot be read is reported and left out.
 */
export async function readSources(
  project: ProjectFiles,
  wanted: readonly string[],
  variables: Record<string, string>,
  report: Report,
  readings: Readings = openReadings(undefined, ''),
): Promise<Map<string, ReadSource>> {
  const entries = new Map(project.files.map((entry) => [entry.path, entry]));
  const sources = new Map<string, ReadSource>();
  const asked = new Set(wanted);
  const reader: Reader = { project, entries, variables, readings };
  for (let open = [...asked]; open.length > 0; ) {
    const isLarge = (path: string): boolean => (entries.get(path)?.sizeBytes ?? 0) > largeSourceBytes;
    const ordered = [...open.filter((path) => !isLarge(path)), ...open.filter(isLarge)];
    const read = ordered.map((path) => knownSource(reader, path));
    const unread = ordered.flatMap((path, at) => (read[at] === undefined ? [{ path, at }] : []));
    const readOne = async ({ path, at }: { path: string; at: number }): Promise<void> => {
      read[at] = await readSource(reader, path);
    };
    const small = unread.filter(({ path }) => !isLarge(path));
    await inParallel(small, parallelReads, readOne);
    for (const large of unread.slice(small.length)) await readOne(large);
    open = [];
    for (const one of read) {
      for (const found of one?.diagnostics ?? []) report(found);
      if (one?.source === undefined) continue;
      const { source } = one;
      sources.set(source.entry.path, source);
      for (const path of source.imports) {
        if (asked.has(path) || !isSource(path)) continue;
        asked.add(path);
        open.push(path);
      }
    }
  }
  return sources;
}

type OneRead = { source?: ReadSource; diagnostics: Finding[] };

type Reader = {
  project: ProjectFiles;
  entries: ReadonlyMap<string, ProjectFile>;
  variables: Record<string, string>;
  readings: Readings;
};

async function readSource(reader: Reader, path: string): Promise<OneRead> {
  const { project, entries, variables, readings } = reader;
  const entry = entries.get(path);
  if (!entry) return { diagnostics: [] };
  try {
    const reading = await readings.of(
      'source',
      entry,
      async () => sourceReading(await project.read(path, maxSourceBytes + 1), entry, variables),
      (known) => isOfVariables(known, variables),
    );
    return sourceOf(reading, entry, reader);
  } catch (error) {
    const message = `The file cannot be read: ${messageOf(error)}`;
    return { diagnostics: [{ severity: 'error', code: 'file-not-read', message, file: path }] };
  }
}

/** The source of a file whose reading is in memory. Most files of a changed project are such, and waiting for each would take most of the time. */
function knownSource(reader: Reader, path: string): OneRead | undefined {
  const entry = reader.entries.get(path);
  const reading = entry && reader.readings.known('source', entry);
  if (reading === undefined || entry === undefined || !isOfVariables(reading, reader.variables)) return undefined;
  return sourceOf(reading, entry, reader);
}

const isOfVariables = (reading: Reading<'source'>, variables: Record<string, string>): boolean =>
  reading.variables === undefined || reading.variables === variablesHash(variables);

function sourceOf(reading: Reading<'source'>, entry: ProjectFile, { entries, readings }: Reader): OneRead {
  const { path } = entry;
  const { imports: specifiers, snippetFiles, diagnostics, variables: _used, ...own } = reading;
  const has = (candidate: string): boolean => entries.has(candidate);
  const found = [
    ...specifiers.map((specifier) => resolveImport(specifier, path, has)),
    ...snippetFiles.map((named) => resolveSnippetFile(named, has)),
  ].filter((file) => file !== undefined);
  const imports = [...new Set(found)].sort();
  const source = readings.step('source', path, [reading, ...imports], () => ({ ...own, entry, imports }));
  return { source, diagnostics };
}

/** The part of a source's reading that depends only on its bytes, its path and the variables. Resolving its imports depends on the other files. */
export function sourceReading(
  bytes: Uint8Array,
  entry: ProjectFile,
  variables: Record<string, string>,
): Reading<'source'> {
  const { path } = entry;
  const isMarkdown = ['mdx', 'md'].includes(extensionOf(path));
  const isCut = bytes.byteLength > maxSourceBytes;
  const decoded = decodeSource(bytes.subarray(0, maxSourceBytes), path);
  const frontmatter = isMarkdown ? parseFrontmatter(decoded.text, path) : noFrontmatter(decoded.text);
  const { data, groupsUnreadable } = frontmatter;
  const body = withoutPictures(frontmatter.body);
  const usesVariables = isMarkdown && body.includes('{{');
  const variablesLeft = usesVariables ? prepareSource(body, path, variables).diagnostics : [];
  return {
    ...jsonCopy({ frontmatter: data, ...scanSource(body, path) }),
    leadingTitle: isMarkdown && data['title'] === undefined ? leadingTitle(body) : undefined,
    groupsUnreadable,
    undefinedVariables: variablesLeft.map(({ message }) => /\{\{(.+?)\}\}/.exec(message)?.[1] ?? ''),
    variables: usesVariables ? variablesHash(variables) : undefined,
    // Invalid bytes at the cut are not the author's bad encoding.
    diagnostics: [...(isCut ? tooLarge(entry) : decoded.diagnostics), ...frontmatter.diagnostics, ...variablesLeft],
  };
}

const variablesHash = (variables: Record<string, string>): string => sha256Of(JSON.stringify(variables));

/** Warns the author at publication that rendering the page will fail. */
function tooLarge({ path, sizeBytes }: ProjectFile): Finding[] {
  const limit = sourceTooLarge(sizeBytes);
  return limit === undefined ? [] : [{ severity: 'error', code: limit.code, message: limit.message, file: path }];
}

const noFrontmatter = (body: string): Frontmatter => ({
  data: {},
  raw: '',
  broken: false,
  groupsUnreadable: false,
  body,
  diagnostics: [],
});

export type ScannedSource = {
  /** Specifiers as written: `/snippets/x.mdx`, `./x.jsx`, `react`. */
  imports: string[];
  /** `file` of each `<Snippet file="…">`. */
  snippetFiles: string[];
  /**
   * Targets with a leading slash, without query and anchor, sorted, each once. A superset: everything that looks like a path counts. A picture of another
   * site is the path of its copy without extension.
   */
  linkTargets: string[];
};

const importStatement = /\bfrom[ \t]*['"]([^'"\n]{1,500})['"]|^[ \t]*import[ \t]*['"]([^'"\n]{1,500})['"]/gm;
const snippetElement = /<Snippet\b[^>]{0,500}?\bfile\s*=\s*\{?\s*["'`]([^"'`\n]{1,500})["'`]/g;
const markdownTarget = /\]\(\s*<?([^\s)>]{1,1000})|^[ \t>]*\[[^\]\n]{1,500}\]:[ \t]*<?([^\s>]{1,1000})/gm;
const quotedPath = /["'`]((?:\/|\.\.?\/)[^"'`\s{}<>\\]{0,1000})["'`]/g;
const attributeTarget = /\b(?:href|src|img|url|root|icon|poster|file)\s*=\s*\{?\s*["'`]([^"'`\s{}<>\\]{1,1000})["'`]/g;

/** Finds the references of a page or snippet without a parser. `file` is its path in the project, and relative targets are resolved from it. */
export function scanSource(text: string, file: string): ScannedSource {
  const imports =
    text.includes('from') || text.includes('import') ? firstGroups(withoutExamples(text, file), importStatement) : [];
  const snippetFiles = text.includes('<Snippet') ? firstGroups(text, snippetElement) : [];
  const targets = new Set<string>();
  const written = [markdownTarget, quotedPath, attributeTarget].flatMap((pattern) => firstGroups(text, pattern));
  for (const found of [...written, ...cssAddresses(text)]) {
    const target = rooted(found, file);
    if (target !== undefined) targets.add(target);
  }
  for (const { address } of pictureAddresses(text)) targets.add(`/${remoteStem(address)}`);
  return { imports, snippetFiles, linkTargets: [...targets].sort() };
}

/** Removes fenced code and comments, where imports are examples. */
function withoutExamples(text: string, file: string): string {
  const isCode = /\.(?:jsx?|tsx?)$/i.test(file);
  const shown = isCode ? text : withoutFences(text);
  if (!shown.includes('/*') && !(isCode && shown.includes('//'))) return shown;
  return isCode ? shown.replace(codeComment, '$1') : shown.replace(pageComment, '');
}

/** Matches a string or template, which stays, or a comment. */
const codeComment = /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[^])*`)|\/\*[^]*?\*\/|\/\/[^\n]*/g;
/** Matches a comment in a page that begins its line: one within a line of text may be code that shows a comment. */
const pageComment = /^[ \t]*\{\s*\/\*[^]*?\*\/\s*\}/gm;

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

const extensions = ['', '.mdx', '.md', '.jsx', '.tsx', '.js', '.ts'];

/**
 * The project file that an import in `from` names. Undefined for a package, an address, a path that points outside the project, or a missing file.
 * Paths are absolute from the project's root or relative; older projects write absolute ones without the first slash.
 */
export function resolveImport(specifier: string, from: string, has: (path: string) => boolean): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:|^\/\/|\\|%/i.test(specifier)) return undefined;
  const path = resolvePath(/^(?:\.\.?)?\//.test(specifier) ? specifier : `/${specifier}`, from);
  return path === undefined ? undefined : extensions.map((extension) => path + extension).find(has);
}

/** The file of `<Snippet file="…">`, in one of the folders for snippets, or from the root. */
export function resolveSnippetFile(named: string, has: (path: string) => boolean): string | undefined {
  const path = named.replace(/^\//, '');
  for (const folder of ['_snippets/', 'snippets/', '']) {
    const found = resolveImport(`/${folder}${path}`, '', has);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** All files that `file` imports, directly or indirectly, sorted, without the file. `importsOf` returns direct imports. */
export function reachableImports(file: string, importsOf: (file: string) => readonly string[]): string[] {
  const reached = new Set<string>();
  const open = [...importsOf(file)];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    open.push(...importsOf(next));
  }
  reached.delete(file);
  return [...reached].sort();
}

/** Cycles of imports, each as the chain that leads back to its first file; at most 100. */
export function importCycles(files: readonly string[], importsOf: (file: string) => readonly string[]): string[][] {
  const done = new Set<string>();
  const cycles: string[][] = [];
  for (const start of files) {
    // Depth-first search with an explicit stack, because chains may be as long as the project has files.
    const path: { file: string; next: number }[] = [{ file: start, next: 0 }];
    const onPath = new Set([start]);
    while (path.length > 0 && cycles.length < 100) {
      const top = path.at(-1) as { file: string; next: number };
      const child = done.has(top.file) ? undefined : importsOf(top.file)[top.next];
      top.next += 1;
      if (child === undefined) {
        done.add(top.file);
        onPath.delete(top.file);
        path.pop();
      } else if (onPath.has(child)) {
        const chain = path.map(({ file }) => file);
        cycles.push([...chain.slice(chain.indexOf(child)), child]);
      } else if (!done.has(child)) {
        path.push({ file: child, next: 0 });
        onPath.add(child);
      }
    }
  }
  return cycles;
}
