import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pagePathOf, pageUrl } from '#services/assistant/retrieval.ts';
import { ApiError } from '#shared/http/errors.ts';
import { skillOfOutline } from '#shared/mcp/docs-outline.ts';
import type { DocsSource } from '#shared/mcp/docs-source.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { findLines } from '#shared/search/find-lines.ts';
import { linePattern, PatternRefused } from '#shared/search/line-pattern.ts';
import { openLocalIndex } from './local-index.ts';

/** The documentation in a folder, as agents read it. */
export type LocalDocs = DocsSource & { name: string; close(): Promise<void> };

/** Indexes a docs project in a folder as `openLocalIndex` does, and follows its changes. */
export async function openLocalDocs(folder: string, say: (sentence: string) => void): Promise<LocalDocs> {
  const local = await openLocalIndex(folder, say);
  const { index, current } = local;
  const watcher = watch(folder, { recursive: true }, local.changed);
  watcher.on('error', (error) => say(`Changes of the folder are not followed: ${messageOf(error)}`));

  return {
    name: current().outline.name,
    outline: async () => current().outline,
    async search({ query, pageSize, version, language }) {
      const found = await index.search({ ...current().scope, query, limit: pageSize, filter: { version, language } });
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
      const page = path === undefined ? undefined : await index.findPage(current().scope, path, []);
      return page && { path: page.path, markdown: page.markdown };
    },
    async findLines({ pattern, isExpression, isCaseSensitive, ...search }) {
      const compiled = await linePattern(pattern, { isExpression, isCaseSensitive }).catch((error: unknown) => {
        throw error instanceof PatternRefused
          ? new ApiError('invalid_request', error.message, { cause: error })
          : error;
      });
      return await findLines(index, current().scope, [], { ...search, pattern: compiled });
    },
    async readSkill(name) {
      const skill = current().outline.skills.find((each) => each.name === name);
      if (skill === undefined) return undefined;
      if (skill.text !== undefined) return skill.text;
      if (skill.file === undefined) return skillOfOutline(current().outline);
      return await readFile(join(folder, skill.file.path), 'utf8');
    },
    onFailure: (error) => say(`A call failed: ${messageOf(error)}`),
    async close() {
      watcher.close();
      await local.close();
    },
  };
}
