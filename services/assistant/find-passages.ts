import type { Turn } from '#shared/aggregates/thread/thread.ts';
import type { MessageBody } from '#shared/interfaces/http/assistant.ts';
import type { Caller } from '#shared/interfaces/internal/caller.ts';
import { analyzeQuery } from '#shared/search/ranking/analyze-text.ts';
import { isTitleOf } from '#shared/search/ranking/rank-passages.ts';
import type { FoundPage, FoundPassage, SearchIndex, SearchScope } from '#shared/search/search-index.ts';
import { promptPassage } from './answer-prompt.ts';
import type { FoundSource } from '#shared/interfaces/http/answer-wire.ts';
import { markdownOfBlocks, markdownSection, shortTable, termCount } from './markdown-blocks.ts';
import { markdownText } from './markdown-text.ts';
import { type PromptPassage, withoutSeeAlso } from './prompt-passages.ts';
import { type AssistantContext, pagePathOf, pageUrl, retrievePassages, trustedGroups } from './retrieval.ts';
import { questionKind } from './quote-section.ts';
import { asksForMore, isAboutPage, retrievalQuery } from './retrieval-query.ts';

/** The passages that an answer is based on. */
export type FoundPassages = {
  query: string;
  found: FoundPassage[];
  /** The same passages for the model. If the question is about the current page, that page comes first. */
  passages: PromptPassage[];
};

/** Fields of a request that steer the search. */
export type SteeringFields = Pick<MessageBody, 'context' | 'currentPath' | 'filter' | 'retrievalPageSize'>;

const defaultPassages = 5;
const passagesPerPage = 3;
/** Minimum number of different pages among the passages, if that many match. */
const leastPages = 3;
const pageCharacters = 8_000;
const sectionCharacters = 6_000;

/** Finds passages for the last question of a conversation in the content that the caller may see. */
export async function findPassages(
  context: Pick<AssistantContext, 'searchIndex' | 'embedQuestion'>,
  caller: Caller,
  scope: SearchScope,
  body: SteeringFields,
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
      limit: isForMore ? limit * 2 : limit + leastPages * passagesPerPage,
      passagesPerPage,
      filter: body.filter,
      near: currentPath ?? pagePathOf(selections.find(({ path }) => path)?.path),
    }),
    isAboutPage(question) && currentPath !== undefined
      ? context.searchIndex.findPage(scope, currentPath, groups)
      : undefined,
  ]);
  const found = isForMore ? notYetShown(all, turns, query).slice(0, limit) : ofSeveralPages(all, limit);
  const passages = await withMarkdown(context.searchIndex, scope, groups, query, found);
  const [best] = found;
  const isDefinition = questionKind(question) === 'what' && best !== undefined && isTitleOf(best.title, query);
  if (page === undefined && (isDefinition || questionKind(question) === 'start')) {
    return { query, found, passages: await fromTheStart(context.searchIndex, scope, groups, passages, best) };
  }
  if (page === undefined)
    return { query, found, passages: await asWhole(context.searchIndex, scope, groups, passages, query) };
  const ofPage = found.filter(({ path }) => path === page.path);
  const sections = passages.filter(({ url }) => url.startsWith(`${pageUrl(page.path, '')}#`));
  return { query, found: ofPage, passages: [pagePassage(page), ...sections] };
}

/** The best passages, at most `limit` of them. The best passage of each of the first three pages is always included. */
function ofSeveralPages(all: readonly FoundPassage[], limit: number): FoundPassage[] {
  const first = new Set(
    [...Map.groupBy(all, ({ path }) => path).values()].slice(0, Math.min(leastPages, limit)).map(([best]) => best),
  );
  const chosen = new Set(first);
  for (const passage of all) if (chosen.size < limit) chosen.add(passage);
  return all.filter((passage) => chosen.has(passage));
}

/** The sections that were found, each once, with the Markdown of their pages. A section that cannot be found in the Markdown keeps its text. */
async function withMarkdown(
  searchIndex: Pick<SearchIndex, 'findPage'>,
  scope: SearchScope,
  groups: readonly string[],
  query: string,
  found: readonly FoundPassage[],
): Promise<PromptPassage[]> {
  const paths = [...new Set(found.map(({ path }) => path))];
  const pages = new Map(
    await Promise.all(paths.map(async (path) => [path, await searchIndex.findPage(scope, path, groups)] as const)),
  );
  const terms = new Set(analyzeQuery(query));
  const passages = new Map<string, PromptPassage>();
  for (const passage of found) {
    const { text, ...rest } = promptPassage(passage);
    const known = passages.get(rest.url);
    if (known !== undefined) {
      known.relevance = Math.max(known.relevance, rest.relevance);
      continue;
    }
    const markdown = pages.get(passage.path)?.peoplesMarkdown;
    const blocks = markdown === undefined ? undefined : markdownSection(markdown, passage.heading);
    const section = blocks?.map((block) => shortTable(block, terms)) ?? [];
    const written = markdownOfBlocks(section);
    const isWhole = section.length > 0 && written.length <= sectionCharacters;
    passages.set(rest.url, { ...rest, text: isWhole ? written : markdownText(text) });
  }
  return [...passages.values()];
}

/**
 * Replaces the passages of the best page by its start if the question asks for the page itself: its sections match equally, and no heading has words of
 * the question. An example is a page with one section for each operating system.
 */
async function asWhole(
  searchIndex: Pick<SearchIndex, 'findPage'>,
  scope: SearchScope,
  groups: readonly string[],
  passages: readonly PromptPassage[],
  query: string,
): Promise<PromptPassage[]> {
  const [best] = passages;
  const path = best && pagePathOf(best.url);
  if (best === undefined || path === undefined) return [...passages];
  const ofPage = passages.filter(({ url }) => pagePathOf(url) === path);
  const terms = new Set(analyzeQuery(query));
  const isAlike = ({ relevance, title }: PromptPassage): boolean =>
    relevance === best.relevance && termCount(title.split(' › ').slice(1).join(' '), terms) === 0;
  if (ofPage.length < passagesPerPage || !ofPage.every(isAlike) || termCount(best.title, terms) === 0)
    return [...passages];
  const page = await searchIndex.findPage(scope, path, groups);
  if (page === undefined || page.peoplesMarkdown.length > pageCharacters) return [...passages];
  return [{ ...pagePassage(page), relevance: best.relevance }, ...passages.filter((one) => !ofPage.includes(one))];
}

/** For questions about how to start or about a page as a whole, returns the best page from its start, across its first headings. */
async function fromTheStart(
  searchIndex: Pick<SearchIndex, 'findPage'>,
  scope: SearchScope,
  groups: readonly string[],
  passages: readonly PromptPassage[],
  best: FoundPassage | undefined,
): Promise<PromptPassage[]> {
  const page = best && (await searchIndex.findPage(scope, best.path, groups));
  if (page === undefined) return [...passages];
  const relevance = passages.find(({ url }) => url.split('#')[0] === pageUrl(page.path, ''))?.relevance ?? 0;
  const start = { ...pagePassage(page), relevance };
  return [start, ...passages.filter(({ url }) => url !== start.url)];
}

const titleShare = 0.2;
const readPageMalus = 0.2;

/**
 * For requests for more: the passages that earlier answers did not link to, or all passages if there are no others. Passages with more words of the
 * question rank higher, and passages of pages that were linked before rank lower.
 */
function notYetShown(found: FoundPassage[], turns: readonly Turn[], query: string): FoundPassage[] {
  const said = turns.filter(({ role }) => role === 'assistant').map(({ text }) => withoutSeeAlso(text));
  const isLinked = (url: string): boolean => said.some((text) => text.includes(`](${url}`));
  const fresh = found.filter(({ path, anchor }) => !isLinked(`${pageUrl(path, anchor)})`));
  const terms = new Set(analyzeQuery(query));
  const rating = ({ path, title, heading, coverage }: FoundPassage): number => {
    const isRead = isLinked(`${pageUrl(path, '')})`) || isLinked(`${pageUrl(path, '')}#`);
    const called = termCount(`${title} ${heading}`, terms) / Math.max(1, terms.size);
    return coverage + titleShare * called - (isRead ? readPageMalus : 0);
  };
  return (fresh.length > 0 ? fresh : found).toSorted((a, b) => rating(b) - rating(a));
}

const pagePassage = ({ path, title, peoplesMarkdown }: FoundPage): PromptPassage => ({
  url: pageUrl(path, ''),
  title,
  relevance: 1,
  text: peoplesMarkdown.slice(0, pageCharacters),
});

/** A passage as clients see it. */
export const foundSource = ({ path, anchor, title, heading, text }: FoundPassage): FoundSource => ({
  content: text,
  path,
  url: pageUrl(path, anchor),
  metadata: { title, heading },
});
