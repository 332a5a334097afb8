import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProjectFiles } from '#shared/docs/project/project-files.ts';
import { packTar } from './archives.ts';

const paragraph =
  'A renderer takes a chunk of pages, renders each in a child process, and stores one segment with its sidecar. ';

/** A generated docs project as a `.tar.gz`. Each page has about 2 kB with headings, a list, code, a callout, and `name`. */
export function generatedProject(name: string, pageCount: number): Promise<Buffer<ArrayBuffer>> {
  return packTar(generatedFiles(name, pageCount));
}

/** The files of a generated project by path, for tests that change some of them. */
export function generatedFiles(name: string, pageCount: number): Record<string, string> {
  const paths = Array.from({ length: pageCount }, (_, at) => `guides/part-${Math.floor(at / 50)}/page-${at}`);
  const groups = [...Map.groupBy(paths, (path) => path.split('/')[1] ?? '')].map(([group, pages]) => ({
    group,
    pages,
  }));
  const settings = { name, theme: 'mint', colors: { primary: '#0d9373' }, navigation: { groups } };
  return {
    'docs.json': JSON.stringify(settings),
    ...Object.fromEntries(paths.map((path, at) => [`${path}.mdx`, pageSource(name, at)])),
  };
}

const pageSource = (name: string, at: number): string => `---
title: "Page ${at} of ${name}"
description: "What page ${at} is about"
---

## First steps

${paragraph.repeat(4)}

- one thing of ${name}
- another, with \`code\` and **weight**

<Note>Page ${at} has a note of its own.</Note>

## An example

\`\`\`typescript
export const answer${at} = (question: string): number => question.length + ${at};
\`\`\`

${paragraph.repeat(8)}
`;

/** Real projects that are not part of this repository; tests that need them are skipped if they are missing. */
export const sharedFolder = process.env.BINDERY_SHARED ?? fileURLToPath(new URL('../../../shared', import.meta.url));

export const corpusFolder = `${sharedFolder}/corpus`;

export const ownDocumentation = fileURLToPath(new URL('../../infra/docs', import.meta.url));

/** A real project if the corpus is available, else our own documentation. */
function projectOf(name: string): { name: string; folder: string } {
  const folder = join(corpusFolder, name);
  return existsSync(folder) ? { name, folder } : { name: 'our own documentation', folder: ownDocumentation };
}

/** Project of 442 pages, for tests of a few seconds. */
export const mediumProject = projectOf('fastmcp');

/** Project of 557 pages. Its export takes long enough to be disturbed in its middle. */
export const chaosProject = projectOf('meilisearch');

/** The largest project of the corpus, for measurements. */
export const largestProject = projectOf('mintlify-docs');

export function isThere(path: string, what: string): boolean {
  if (existsSync(path)) return true;
  console.warn(`Skipped: ${what} is not at ${path}. Set BINDERY_SHARED to the folder that has it.`);
  return false;
}

/** A docs project in a folder on disk, every file read and hashed at once. */
export async function localProject(folder: string): Promise<ProjectFiles> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const contents = new Map<string, Buffer>();
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    contents.set(relative(folder, file).split(sep).join('/'), await readFile(file));
  }
  const files = [...contents].map(([path, bytes]) => {
    return { path, sha256: createHash('sha256').update(bytes).digest('hex'), sizeBytes: bytes.byteLength };
  });
  return {
    files,
    read(path) {
      const bytes = contents.get(path);
      return bytes ? Promise.resolve(bytes) : Promise.reject(new Error(`there is no file "${path}"`));
    },
  };
}

/** A packed project of one page, for tests of requests. */
export async function tinyProject(): Promise<Uint8Array<ArrayBuffer>> {
  const navigation = { pages: ['quickstart'] };
  const settings = { theme: 'mint', name: 'Acme', colors: { primary: '#000000' }, navigation };
  const page = '---\ntitle: Quickstart\n---\n\n## Install\n\nRun `npm install` to install it.\n';
  return new Uint8Array(await packTar({ 'docs.json': JSON.stringify(settings), 'quickstart.mdx': page }));
}
