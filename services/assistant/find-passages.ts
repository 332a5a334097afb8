import type { Turn } from '#shared/aggregates/thread/thread.ts';
import type { MessageBody } from '#shared/contracts/http/assistant.ts';
import type { Caller } from '#shared/contracts/internal/caller.ts';
import type { FoundPage, FoundPassage, SearchScope } from '#shared/search/search-index.ts';
import { promptPassage } from './answer-prompt.ts';
import type { PromptPassage } from './prompt-passages.ts';
import { type AssistantContext, pagePathOf, pageUrl, retrievePassages, trustedGroups } from './retrieval.ts';
import { asksForMore, isAboutPage, retrievalQuery } from './retrieval-query.ts';

/** What an answer rests on. */
export type FoundPassages = {
  /** What was searched for. */
  query: string;
  found: FoundPassage[];
  /** The same for the model; where the question is about the page that is open, that page comes first. */
  passages: PromptPassage[];
};

const defaultPassages = 5;
const passagesPerPage = 3;
const pageCharacters = 8_000;

/** Finds what answers the last question of a conversation, among what the caller may see. */
export async function findPassages(
  context: Pick<AssistantContext, 'searchIndex'>,
  caller: Caller,
  scope: SearchScope,
  body: Pick<MessageBody, 'context' | 'currentPath' | 'filter' | 'retrievalPageSize'>,
  turns: readonly Turn[],
): Promise<FoundPassages> {
  const question = turns.at(-1)?.text ?? '';
  const selections = body.context ?? [];
  const currentPath = pagePathOf(body.currentPath);
  const query = retrievalQuery(turns, selections);
  const limit = body.retrievalPageSize ?? defaultPassages;
  const isForMore = asksForMore(question) && selections.length === 0;
  const groups = trustedGroups(caller, body.filter?.groups);
  const [all, page] = await Promise.all([
    retrievePassages(context, caller, scope, {
      query,
      limit: isForMore ? limit * 2 : limit,
      passagesPerPage,
      filter: body.filter,
      near: currentPath ?? pagePathOf(selections.find(({ path }) => path)?.path),
    }),
    isAboutPage(question) && currentPath !== undefined
      ? context.searchIndex.findPage(scope, currentPath, groups)
      : undefined,
  ]);
  const found = (isForMore ? notYetShown(all, turns) : all).slice(0, limit);
  const passages = found.map(promptPassage);
  if (page === undefined) return { query, found, passages };
  const ofPage = found.filter(({ path }) => path === page.path);
  return { query, found: ofPage, passages: [pagePassage(page), ...ofPage.map(promptPassage)] };
}

/** Who asks for more has read what earlier answers link to; when there is nothing else, that again. */
function notYetShown(found: FoundPassage[], turns: readonly Turn[]): FoundPassage[] {
  const said = turns.filter(({ role }) => role === 'assistant').map(({ text }) => text);
  const fresh = found.filter(({ path, anchor }) => !said.some((text) => text.includes(`](${pageUrl(path, anchor)})`)));
  return fresh.length > 0 ? fresh : found;
}

const pagePassage = ({ path, title, markdown }: FoundPage): PromptPassage => ({
  url: pageUrl(path, ''),
  title,
  relevance: 1,
  text: markdown.slice(0, pageCharacters),
});
