import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pageReader } from '#services/indexer/cut-pages.ts';
import { partsOf } from '#shared/docs/project/site-model-parts.ts';
import { childPool } from '#shared/docs/sandbox/child-pool.ts';
import { requireNativeParser } from '#shared/docs/sandbox/native-code.ts';
import { type DocsOutline, docsOutline, outlineFor } from '#shared/mcp/docs-outline.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import type { SearchIndex, SearchScope } from '#shared/search/search-index.ts';
import { sqliteSearchIndex } from '#shared/search/sqlite/sqlite-search-index.ts';
import { folderProject } from './folder-project.ts';
import { readProject, readSite } from './search-bench/site-index.ts';

const calmAfterMs = 300;

type Indexed = { scope: SearchScope; outline: DocsOutline };

/** The search index of a docs project in a folder. */
export type LocalIndex = {
  index: SearchIndex;
  /** The version that is searched. */
  current: () => Indexed;
  /** Called when files changed. The project is then read again as soon as there are no changes for 0.3 s. */
  changed: () => void;
  close(): Promise<void>;
};

/**
 * Reads a docs project in a folder and indexes it in a temporary folder. While a changed project is read, and if it cannot be read, answers are from
 * before. Pages of groups are left out, because nobody says who asks. `say` gets sentences for people. Rejects as `folderProject` and
 * `analyzeProject` do.
 */
export async function openLocalIndex(folder: string, say: (sentence: string) => void): Promise<LocalIndex> {
  requireNativeParser();
  const slots = Math.min(4, availableParallelism());
  const pool = childPool({ ...pageReader, slots, warmSpares: 0, idleAfterMs: 3_000 });
  const place = await mkdtemp(join(tmpdir(), 'bindery-index-'));
  const index = sqliteSearchIndex(place);
  let reads = 0;

  async function read(): Promise<Indexed> {
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

  return {
    index,
    current: () => current,
    changed,
    async close() {
      clearTimeout(timer);
      isStale = false;
      await reading;
      await close();
    },
  };
}
