import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { extensionOf } from './classify-files.ts';
import { decodeSource } from './decode-source.ts';
import type { Report } from './diagnostic-list.ts';
import { type Frontmatter, parseFrontmatter } from './parse-frontmatter.ts';
import type { JsonObject } from './plain-json.ts';
import type { ProjectFile, ProjectFiles } from './project-files.ts';
import { prepareSource } from './prepare-source.ts';
import { resolveImport, resolveSnippetFile } from './resolve-import.ts';
import { scanSource } from './scan-source.ts';
import { MAX_SOURCE_BYTES } from './source-limits.ts';

export type ReadSource = {
  entry: ProjectFile;
  frontmatter: JsonObject;
  /** Its frontmatter cannot be read and says something about groups, or might. */
  groupsUnreadable: boolean;
  /** Project files that it imports or includes itself. */
  imports: string[];
  linkTargets: string[];
  /** `{{names}}` in its text that have no value. */
  undefinedVariables: string[];
};

const PARALLEL_READS = 32;

/**
 * Reads pages, snippets and whatever they import, each file once: frontmatter, imports, link targets. A file that cannot be read is reported
 * and left out.
 */
export async function readSources(
  project: ProjectFiles,
  wanted: readonly string[],
  variables: Record<string, string>,
  report: Report,
): Promise<Map<string, ReadSource>> {
  const entries = new Map(project.files.map((entry) => [entry.path, entry]));
  const sources = new Map<string, ReadSource>();
  const asked = new Set(wanted);
  let open = [...asked];
  while (open.length > 0) {
    const batch = open.slice(0, PARALLEL_READS);
    open = open.slice(PARALLEL_READS);
    const read = await Promise.all(batch.map((path) => readSource(project, entries, path, variables)));
    for (const { source, diagnostics } of read) {
      for (const found of diagnostics) report(found);
      if (!source) continue;
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

export const isSource = (path: string): boolean => ['mdx', 'md', 'jsx', 'tsx', 'js', 'ts'].includes(extensionOf(path));

type OneRead = { source?: ReadSource; diagnostics: Diagnostic[] };

async function readSource(
  project: ProjectFiles,
  entries: ReadonlyMap<string, ProjectFile>,
  path: string,
  variables: Record<string, string>,
): Promise<OneRead> {
  const entry = entries.get(path);
  if (!entry) return { diagnostics: [] };
  let bytes: Uint8Array;
  try {
    bytes = await project.read(path, MAX_SOURCE_BYTES + 1);
  } catch (error) {
    const message = `The file cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    return { diagnostics: [{ severity: 'error', code: 'file-not-read', message, file: path }] };
  }
  const isMarkdown = ['mdx', 'md'].includes(extensionOf(path));
  const isCut = bytes.byteLength > MAX_SOURCE_BYTES;
  const decoded = decodeSource(bytes.subarray(0, MAX_SOURCE_BYTES), path);
  const frontmatter = isMarkdown ? parseFrontmatter(decoded.text, path) : noFrontmatter(decoded.text);
  const { data, raw, broken, body } = frontmatter;
  const variablesLeft = isMarkdown && body.includes('{{') ? prepareSource(body, path, variables).diagnostics : [];
  const scanned = scanSource(body, path);
  const has = (candidate: string): boolean => entries.has(candidate);
  const imports = [
    ...scanned.imports.map((specifier) => resolveImport(specifier, path, has)),
    ...scanned.snippetFiles.map((named) => resolveSnippetFile(named, has)),
  ].filter((found) => found !== undefined);
  return {
    source: {
      entry,
      groupsUnreadable: broken && /^\s*["']?groups["']?\s*:/m.test(raw),
      imports: [...new Set(imports)].sort(),
      undefinedVariables: variablesLeft.map(({ message }) => /\{\{(.+?)\}\}/.exec(message)?.[1] ?? ''),
      ...freshCopy({ frontmatter: data, linkTargets: scanned.linkTargets }),
    },
    // The end of what was cut off at the limit is no bad encoding of its author.
    diagnostics: [...(isCut ? [] : decoded.diagnostics), ...frontmatter.diagnostics, ...variablesLeft],
  };
}

const noFrontmatter = (body: string): Frontmatter => ({ data: {}, raw: '', broken: false, body, diagnostics: [] });

/** V8 keeps a whole text in memory for any piece cut out of it; of thousands of pages that is all of the project. */
const freshCopy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
