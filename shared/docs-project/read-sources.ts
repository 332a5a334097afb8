import { extensionOf } from './classify-files.ts';
import { decodeSource } from './decode-source.ts';
import type { Report } from './diagnostic-list.ts';
import { type Frontmatter, parseFrontmatter } from './parse-frontmatter.ts';
import type { ProjectFile, ProjectFiles } from './project-files.ts';
import { prepareSource } from './prepare-source.ts';
import { resolveImport, resolveSnippetFile } from './resolve-import.ts';
import { scanSource } from './scan-source.ts';
import { MAX_SOURCE_BYTES } from './source-limits.ts';

export type ReadSource = {
  entry: ProjectFile;
  frontmatter: Frontmatter;
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
    const read = await Promise.all(batch.map((path) => readSource(project, entries, path, variables, report)));
    for (const source of read) {
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

async function readSource(
  project: ProjectFiles,
  entries: ReadonlyMap<string, ProjectFile>,
  path: string,
  variables: Record<string, string>,
  report: Report,
): Promise<ReadSource | undefined> {
  const entry = entries.get(path);
  if (!entry) return undefined;
  let bytes: Uint8Array;
  try {
    bytes = await project.read(path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    report({ severity: 'error', code: 'file-not-read', message: `The file cannot be read: ${why}`, file: path });
    return undefined;
  }
  const { text, diagnostics } = decodeSource(bytes.subarray(0, MAX_SOURCE_BYTES), path);
  const isMarkdown = ['mdx', 'md'].includes(extensionOf(path));
  const frontmatter = isMarkdown
    ? parseFrontmatter(text, path)
    : { data: {}, raw: '', broken: false, body: text, diagnostics: [] };
  if (bytes.byteLength <= MAX_SOURCE_BYTES) for (const found of diagnostics) report(found);
  for (const found of frontmatter.diagnostics) report(found);
  const scanned = scanSource(frontmatter.body, path);
  const has = (candidate: string): boolean => entries.has(candidate);
  const imports = [
    ...scanned.imports.map((specifier) => resolveImport(specifier, path, has)),
    ...scanned.snippetFiles.map((named) => resolveSnippetFile(named, has)),
  ].filter((found) => found !== undefined);
  return {
    entry,
    frontmatter,
    imports: [...new Set(imports)].sort(),
    linkTargets: scanned.linkTargets,
    undefinedVariables: isMarkdown ? undefinedVariables(frontmatter.body, path, variables, report) : [],
  };
}

function undefinedVariables(body: string, path: string, variables: Record<string, string>, report: Report): string[] {
  if (!body.includes('{{')) return [];
  const { diagnostics } = prepareSource(body, path, variables);
  for (const found of diagnostics) report(found);
  return diagnostics.map(({ message }) => /\{\{(.+?)\}\}/.exec(message)?.[1] ?? '');
}
