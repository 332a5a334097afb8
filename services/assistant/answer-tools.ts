import { z } from 'zod';
import type { Caller } from '#shared/interfaces/internal/caller.ts';
import type { SearchScope } from '#shared/search/search-index.ts';
import type { FoundSource } from '#shared/interfaces/http/answer-wire.ts';
import { findForOne, foundSource, type SteeringFields } from './find-passages.ts';
import { leadingBlocks } from './markdown-blocks.ts';
import { failureFacts } from './model-failures.ts';
import { type ModelTool, modelTool, toolKind } from './model-tool.ts';
import { escapeText, type PromptPassage, writePromptPassages } from './prompt-passages.ts';
import { type AssistantContext, pagePathOf, pageUrl, trustedGroups } from './retrieval.ts';

/** Limit of tool calls in one answer. It is needed beside the limit of steps, because one step may ask for many calls. */
const mostCalls = 12;

const pageCharacters = 12_000;

const noPage = 'There is no such page.';

const searchKind = toolKind(
  'search',
  'Searches the documentation. Use it when the passages do not answer the question.',
  z.object({ query: z.string().min(1).max(500).describe('what to search for, in a few words') }),
);
const readPageKind = toolKind(
  'readPage',
  'Reads a page of the documentation. Use it when a passage holds only a part of the answer.',
  z.object({ path: z.string().min(1).max(300).describe('the path in the url of a passage') }),
);

/**
 * The tools of the model: search again, and read a page. They see only content that the caller may see. Passages that they find are added to
 * `passages`. When a tool fails, the model gets a sentence of ours instead of the error.
 */
export function answerTools(
  context: Pick<AssistantContext, 'searchIndex' | 'embedQuestion' | 'logger'>,
  caller: Caller,
  scope: SearchScope,
  steering: SteeringFields,
  passages: PromptPassage[],
): ModelTool[] {
  let calls = 0;
  const countCall = (): void => {
    calls += 1;
    if (calls > mostCalls) throw new Error('No more searches are possible. Answer from the passages that you have.');
  };
  const failed = (error: unknown): never => {
    context.logger.warn(failureFacts(error), 'a tool of the language model failed');
    throw new Error('The tool failed. Answer from the passages that you have.');
  };
  return [
    modelTool(searchKind, async ({ query }) => {
      countCall();
      const turns = [{ role: 'user' as const, text: query }];
      const { retrievalPageSize, filter } = steering;
      const more = await findForOne(context, caller, scope, { retrievalPageSize, filter }, turns).catch(failed);
      const isKnown = ({ url }: PromptPassage): boolean => passages.some((passage) => passage.url === url);
      passages.push(...more.passages.filter((passage) => !isKnown(passage)));
      const output: FoundSource[] = more.found.map(foundSource);
      const found = passages.filter(({ url }) => output.some((source) => source.url === url));
      return {
        output,
        told: found.length === 0 ? 'Nothing was found.' : writePromptPassages([{ question: query, passages: found }]),
      };
    }),
    modelTool(readPageKind, async ({ path }) => {
      countCall();
      const page = await read(path);
      if (page === undefined) return { output: { problem: noPage }, told: noPage };
      const url = pageUrl(page.path, '');
      const text = escapeText(leadingBlocks(page.peoplesMarkdown, pageCharacters));
      return { output: { path: url, title: page.title }, told: `<page url="${escapeText(url)}">\n${text}\n</page>` };
    }),
  ];

  async function read(address: string) {
    const path = pagePathOf(address);
    if (path === undefined) return undefined;
    const groups = trustedGroups(caller, steering.filter?.groups);
    const page = await context.searchIndex.findPage(scope, path, groups).catch(failed);
    if (page === undefined) return undefined;
    const url = pageUrl(page.path, '');
    const text = leadingBlocks(page.peoplesMarkdown, pageCharacters);
    if (!passages.some((passage) => passage.url === url)) passages.push({ url, title: page.title, relevance: 1, text });
    return page;
  }
}
