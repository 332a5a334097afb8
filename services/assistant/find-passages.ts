import type { Turn } from '#shared/aggregates/thread/thread.ts';
import type { MessageBody } from '#shared/interfaces/http/assistant.ts';
import type { Caller } from '#shared/interfaces/internal/caller.ts';
import { analyzeQuery, subjectTerms } from '#shared/search/ranking/analyze-text.ts';
import { isTitleOf } from '#shared/search/ranking/rank-passages.ts';
import type { FoundPage, FoundPassage, SearchIndex, SearchScope } from '#shared/search/search-index.ts';
import { promptPassage } from './answer-prompt.ts';
import type { FoundSource } from '#shared/interfaces/http/answer-wire.ts';
import {
  blocksAround,
  leadingBlocks,
  markdownOfBlocks,
  markdownSection,
  shortTable,
  termCount,
} from './markdown-blocks.ts';
import { markdownText } from './markdown-text.ts';
import { asksForInterface, isOperation } from './operation-pages.ts';
import { type PromptPart, type PromptPassage, withoutSeeAlso } from './prompt-passages.ts';
import { type AssistantContext, pagePathOf, pageUrl, retrievePassages, trustedGroups } from './retrieval.ts';
import { mostParts, partQuery, questionParts } from './question-parts.ts';
import { questionKind } from './quote-section.ts';
import { asksForMore, isAboutPage, retrievalQuery } from './retrieval-query.ts';

/** The passages that an answer is based on. */
export type FoundPassages = {
  query: string;
  found: FoundPassage[];
  /** The same passages for the model, each once. If the question is about the current page, that page comes first. */
  passages: PromptPassage[];
};

/** The passages of a question by its parts. Most questions have one part. */
export type FoundParts = FoundPassages & { parts: PromptPart[] };

/** Fields of a request that steer the search. */
export type SteeringFields = Pick<MessageBody, 'context' | 'currentPath' | 'filter' | 'retrievalPageSize'>;

const defaultPassages = 5;
const passagesPerPage = 3;
/** Minimum number of different pages among the passages, if that many match. */
const leastPages = 3;
const pageCharacters = 8_000;
const sectionCharacters = 6_000;

/** Finds passages for each part of the last question of a conversation in the content that the caller may see. */
export async function findPassages(
  context: Pick<AssistantContext, 'searchIndex' | 'embedQuestion'>,
  caller: Caller,
  scope: SearchScope,
  body: SteeringFields,
  turns: readonly Turn[],
): Promise<FoundParts> {
  const question = turns.at(-1)?.text ?? '';
  const { parts: all, isCertain } = questionParts(question);
  const parts = all.slice(0, mostParts);
  const asOne = async (): Promise<FoundParts> => {
    const one = await findForOne(context, caller, scope, body, turns);
    return { ...one, parts: [{ question, passages: one.passages }] };
  };
  if (parts.length < 2) return asOne();
  if (!isCertain) {
    const one = await asOne();
    if (isOneTopic(one.found, parts)) return one;
  }
  const limit = body.retrievalPageSize ?? defaultPassages;
  const ofPart = { ...body, retrievalPageSize: Math.max(leastOfPart, Math.ceil(limit / parts.length) + 1) };
  const earlier = turns.slice(0, -1);
  const found = await Promise.all(
    parts.map((text, at) => {
      const query = partQuery(parts, at, earlier);
      return findForOne(context, caller, scope, ofPart, [...earlier, { role: 'user', text }], query);
    }),
  );
  return {
    query: found.map(({ query }) => query.split('\n')[0] ?? '').join('\n'),
    found: uniqueBy(
      found.flatMap((one) => one.found),
      ({ path, anchor, text }) => `${path}#${anchor}\n${text}`,
    ),
    passages: uniqueBy(
      found.flatMap((one) => one.passages),
      ({ url }) => url,
    ),
    parts: found.map(({ passages }, at) => ({ question: parts[at] ?? '', passages })),
  };
}

/** Minimum number of passages for one part of a question. */
const leastOfPart = 3;

/** True if the title or the heading of the best passage has a word of each part that no other part has: it is about all of them together. */
function isOneTopic([best]: readonly FoundPassage[], parts: readonly string[]): boolean {
  if (best === undefined) return false;
  const terms = parts.map((part) => new Set(subjectTerms(part)));
  return [best.title, best.heading.split(' › ').at(-1) ?? ''].some((name) => {
    const named = new Set(subjectTerms(name));
    return terms.every((own, at) =>
      [...own].some((term) => named.has(term) && terms.every((other, position) => position === at || !other.has(term))),
    );
  });
}

const uniqueBy = <T>(all: readonly T[], keyOf: (one: T) => string): T[] =>
  [...new Map(all.map((one) => [keyOf(one), one] as const).reverse()).values()].reverse();

/** Finds passages for the last question of a conversation as a whole. `query`: the search query, if it is not made from the conversation. */
export async function findForOne(
  context: Pick<AssistantContext, 'searchIndex' | 'embedQuestion'>,
  caller: Caller,
  scope: SearchScope,
  body: SteeringFields,
  turns: readonly Turn[],
  ownQuery?: string,
): Promise<FoundPassages> {
  const question = turns.at(-1)?.text ?? '';
  const selections = body.context ?? [];
  const currentPath = pagePathOf(body.currentPath);
  const query = ownQuery ?? retrievalQuery(turns, selections);
  const limit = body.retrievalPageSize ?? defaultPassages;
  const isForMore = asksForMore(question) && selections.length === 0;
  const groups = trustedGroups(caller, body.filter?.groups);
  const search = (query: string) =>
    retrievePassages(context, caller, scope, {
      query,
      limit: isForMore ? limit * 2 : limit + leastPages * passagesPerPage,
      passagesPerPage,
      filter: body.filter,
      near: currentPath ?? pagePathOf(selections.find(({ path }) => path)?.path),
    });
  // A question that refers to earlier ones, and has words of its own, may be about the earlier subject or only mention it.
  const isTwofold = query !== question && query.startsWith(`${question}\n`) && subjectTerms(question).length > 1;
  const [all, page] = await Promise.all([
    isTwofold ? Promise.all([search(query), search(question)]).then(fused) : search(query),
    isAboutPage(question) && currentPath !== undefined
      ? context.searchIndex.findPage(scope, currentPath, groups)
      : undefined,
  ]);
  const pages = await pagesOf(context.searchIndex, scope, groups, all);
  const ranked = asksForInterface(question) ? all : guidesFirst(all, pages);
  const found = isForMore ? notYetShown(ranked, turns, query).slice(0, limit) : ofSeveralPages(ranked, limit);
  const passages = withMarkdown(pages, query, found);
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

/**
 * Passages of two searches in one order, by the sum of their reciprocal ranks (Cormack, Clarke and Büttcher 2009). A passage that both found keeps the
 * greater coverage.
 */
function fused(lists: readonly (readonly FoundPassage[])[]): FoundPassage[] {
  const known = new Map<string, { passage: FoundPassage; sum: number }>();
  for (const list of lists) {
    for (const [rank, passage] of list.entries()) {
      const key = `${passage.path}#${passage.anchor}\n${passage.text}`;
      const before = known.get(key);
      const coverage = Math.max(passage.coverage, before?.passage.coverage ?? 0);
      known.set(key, { passage: { ...passage, coverage }, sum: (before?.sum ?? 0) + 1 / (reciprocalRanks + rank) });
    }
  }
  return [...known.values()].toSorted((a, b) => b.sum - a.sum).map(({ passage }) => passage);
}
const reciprocalRanks = 10;

/** The best passages, at most `limit` of them. The best passage of each of the first three pages is always included. */
function ofSeveralPages(all: readonly FoundPassage[], limit: number): FoundPassage[] {
  const first = new Set(
    [...Map.groupBy(all, ({ path }) => path).values()].slice(0, Math.min(leastPages, limit)).map(([best]) => best),
  );
  const chosen = new Set(first);
  for (const passage of all) if (chosen.size < limit) chosen.add(passage);
  return all.filter((passage) => chosen.has(passage));
}

type Pages = ReadonlyMap<string, FoundPage | undefined>;

/** The pages of passages by path. */
async function pagesOf(
  searchIndex: Pick<SearchIndex, 'findPage'>,
  scope: SearchScope,
  groups: readonly string[],
  found: readonly FoundPassage[],
): Promise<Pages> {
  const paths = [...new Set(found.map(({ path }) => path))];
  return new Map(
    await Promise.all(paths.map(async (path) => [path, await searchIndex.findPage(scope, path, groups)] as const)),
  );
}

/** Rank value of a passage of a guide that covers about as much of the question as the passages about operations, relative to these. */
const guideShare = 1.33;
const asMuch = 0.85;

/** The same passages, with guides before descriptions of operations that match about as well: a reader who names no interface asks how to do it. */
function guidesFirst(found: readonly FoundPassage[], pages: Pages): FoundPassage[] {
  const isAboutOperation = ({ path }: FoundPassage): boolean => isOperation(pages.get(path)?.markdown ?? '');
  const operations = new Set(found.filter(isAboutOperation));
  const covered = Math.max(0, ...[...operations].map(({ coverage }) => coverage));
  const rank = (passage: FoundPassage, at: number): number => {
    const isPreferred = !operations.has(passage) && passage.coverage >= asMuch * covered;
    return (isPreferred ? guideShare : 1) / (reciprocalRanks + at);
  };
  return found
    .map((passage, at) => ({ passage, rank: rank(passage, at) }))
    .toSorted((a, b) => b.rank - a.rank)
    .map(({ passage }) => passage);
}

/** The sections that were found, each once, with the Markdown of their pages. A section that cannot be found in the Markdown keeps its text. */
function withMarkdown(pages: Pages, query: string, found: readonly FoundPassage[]): PromptPassage[] {
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
    const counts = section.map((block) => termCount(block.text, terms));
    const best = Math.max(0, counts.indexOf(Math.max(...counts)));
    const written = markdownOfBlocks(blocksAround(section, best, sectionCharacters));
    passages.set(rest.url, { ...rest, text: written === '' ? markdownText(text) : written });
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
  text: leadingBlocks(peoplesMarkdown, pageCharacters),
});

/** A passage as clients see it. */
export const foundSource = ({ path, anchor, title, heading, text }: FoundPassage): FoundSource => ({
  content: text,
  path,
  url: pageUrl(path, anchor),
  metadata: { title, heading },
});
