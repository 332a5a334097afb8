import { watch } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pagePathOf, pageUrl } from '#services/assistant/retrieval.ts';
import { pageReader } from '#services/indexer/cut-pages.ts';
import { partsOf } from '#shared/docs/project/site-model-parts.ts';
import { childPool } from '#shared/docs/sandbox/child-pool.ts';
import { requireNativeParser } from '#shared/docs/sandbox/native-code.ts';
import { ApiError } from '#shared/http/errors.ts';
import { type DocsOutline, docsOutline, outlineFor, skillOfOutline } from '#shared/mcp/docs-outline.ts';
import type { DocsSource } from '#shared/mcp/docs-source.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { findLines } from '#shared/search/find-lines.ts';
import { linePattern, PatternRefused } from '#shared/search/line-pattern.ts';
import type { SearchScope } from '#shared/search/search-index.ts';
import { sqliteSearchIndex } from '#shared/search/sqlite/sqlite-search-index.ts';
import { folderProject } from './folder-project.ts';
import { readProject, readSite } from './search-bench/site-index.ts';

const calmAfterMs = 300;

/** The documentation in a folder, as agents read it. */
export type LocalDocs = DocsSource & { name: string; close(): Promise<void> };

/**
 * Reads a docs project in a folder and indexes it in a temporary folder. After a change of its files it is read again; until then, and if it cannot be
 * read, answers are from before. Pages of groups are left out, because nobody says who asks. `say` gets sentences for people. Rejects as `folderProject`
 * and `analyzeProject` do.
 */
export async function openLocalDocs(folder: string, say: (sentence: string) => void): Promise<LocalDocs> {
  requireNativeParser();
  const slots = Math.min(4, availableParallelism());
  const pool = childPool({ ...pageReader, slots, warmSpares: 0, idleAfterMs: 3_000 });
  const place = await mkdtemp(join(tmpdir(), 'bindery-mcp-'));
  const index = sqliteSearchIndex(place);
  let reads = 0;

  async function read(): Promise<{ scope: SearchScope; outline: DocsOutline }> {
    const { model, read: readFileOf } = await readProject(await folderProject(folder));
    reads += 1;
    const contentVersion = `cv_${sha256Of(String(reads)).slice(0, 32)}`;
    const scope = { organization: 'local', domain: 'docs', contentVersion };
    const pages = await readSite({ pool, slots }, { model, read: readFileOf });
    const build = await index.startBuild(scope, { synonyms: model.synonyms });
    await build.add(pages);
    await build.commit();
    return { scope, outline: outlineFor(docsOutline(partsOf(model)), []) };
  }

  async function close(): Promise<void> {
    await pool.close();
    await index.close();
    await rm(place, { recursive: true, force: true });
  }

  let current = await read().catch(async (error: unknown) => {
    await close();
    throw error;
  });
  let reading: Promise<void> | undefined;
  let isStale = false;
  let timer: NodeJS.Timeout | undefined;

  async function readAgain(): Promise<void> {
    while (isStale) {
      isStale = false;
      try {
        const before = current.scope;
        current = await read();
        await index.remove(before);
        say(`The project was read again: ${current.outline.pages.length} pages.`);
      } catch (error) {
        say(`The changed project cannot be read, so answers are from before: ${messageOf(error)}`);
      }
    }
  }
  const changed = (): void => {
    isStale = true;
    clearTimeout(timer);
    timer = setTimeout(() => {
      reading ??= readAgain().finally(() => {
        reading = undefined;
      });
    }, calmAfterMs);
  };
  const watcher = watch(folder, { recursive: true }, changed);
  watcher.on('error', (error) => say(`Changes of the folder are not followed: ${messageOf(error)}`));

  return {
    name: current.outline.name,
    outline: async () => current.outline,
    async search({ query, pageSize, version, language }) {
      const found = await index.search({ ...current.scope, query, limit: pageSize, filter: { version, language } });
      return {
        passages: found.map(({ path, anchor, title, heading, text, score, language: of, version: at }) => ({
          ...{ path, url: pageUrl(path, anchor), title, heading, content: text, score },
          ...(of === undefined ? {} : { language: of }),
          ...(at === undefined ? {} : { version: at }),
        })),
      };
    },
    async readPage(asked) {
      const path = pagePathOf(asked);
      const page = path === undefined ? undefined : await index.findPage(current.scope, path, []);
      return page && { path: page.path, markdown: page.markdown };
    },
    async findLines({ pattern, isExpression, isCaseSensitive, ...search }) {
      const compiled = await linePattern(pattern, { isExpression, isCaseSensitive }).catch((error: unknown) => {
        throw error instanceof PatternRefused
          ? new ApiError('invalid_request', error.message, { cause: error })
          : error;
      });
      return await findLines(index, current.scope, [], { ...search, pattern: compiled });
    },
    async readSkill(name) {
      const skill = current.outline.skills.find((each) => each.name === name);
      if (skill === undefined) return undefined;
      if (skill.file === undefined) return skillOfOutline(current.outline);
      return await readFile(join(folder, skill.file.path), 'utf8');
    },
    onFailure: (error) => say(`A call failed: ${messageOf(error)}`),
    async close() {
      watcher.close();
      clearTimeout(timer);
      await reading;
      await close();
    },
  };
}
