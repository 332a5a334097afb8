import type { Turn } from '#shared/aggregates/thread/thread.ts';
import type { MessageBody } from '#shared/contracts/http/assistant.ts';
import type { Caller } from '#shared/contracts/internal/caller.ts';
import { analyzeQuery } from '#shared/search/analyze-text.ts';
import type { FoundPage, FoundPassage, SearchIndex, SearchScope } from '#shared/search/search-index.ts';
import { promptPassage } from './answer-prompt.ts';
import type { FoundSource } from './answer-wire.ts';
import { markdownOfBlocks, markdownSection, shortTable } from './markdown-blocks.ts';
import { markdownText } from './markdown-text.ts';
import type { PromptPassage } from './prompt-passages.ts';
import { type AssistantContext, pagePathOf, pageUrl, retrievePassages, trustedGroups } from './retrieval.ts';
import { questionKind } from './quote-section.ts';
import { asksForMore, isAboutPage, retrievalQuery } from './retrieval-query.ts';

/** What an answer rests on. */
export type FoundPassages = {
  /** What was searched for. */
  query: string;
  found: FoundPassage[];
  /** The same for the model; where the question is about the page that is open, that page comes first. */
  passages: PromptPassage[];
};

/** Fields of a request that steer what is found. */
export type SteeringFields = Pick<MessageBody, 'context' | 'currentPath' | 'filter' | 'retrievalPageSize'>;

const defaultPassages = 5;
const passagesPerPage = 3;
/** What the further passages of the best pages leave room for. */
const leastPages = 3;
const pageCharacters = 8_000;
const sectionCharacters = 6_000;

/** Finds what answers the last question of a conversation, among what the caller may see. */
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
  const found = isForMore ? notYetShown(all, turns).slice(0, limit) : ofSeveralPages(all, limit);
  const passages = await withMarkdown(context.searchIndex, scope, groups, query, found);
  if (page === undefined && questionKind(question) === 'start') {
    return { query, found, passages: await fromTheStart(context.searchIndex, scope, groups, passages, found[0]) };
  }
  if (page === undefined) return { query, found, passages };
  const ofPage = found.filter(({ path }) => path === page.path);
  const sections = passages.filter(({ url }) => url.startsWith(`${pageUrl(page.path, '')}#`));
  return { query, found: ofPage, passages: [pagePassage(page), ...sections] };
}

/** The best ones, where there are others in place of the last ones of pages that have several, so that three pages are among them. */
function ofSeveralPages(all: readonly FoundPassage[], limit: number): FoundPassage[] {
  const first = new Set(
    [...Map.groupBy(all, ({ path }) => path).values()].slice(0, Math.min(leastPages, limit)).map(([best]) => best),
  );
  const chosen = new Set(first);
  for (const passage of all) if (chosen.size < limit) chosen.add(passage);
  return all.filter((passage) => chosen.has(passage));
}

/** The sections that were found, each once, as their pages' Markdown has them; what cannot be found there stays text. */
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
    const markdown = pages.get(passage.path)?.markdown;
    const blocks = markdown === undefined ? undefined : markdownSection(markdown, passage.heading);
    const section = blocks?.map((block) => shortTable(block, terms)) ?? [];
    const written = markdownOfBlocks(section);
    const isWhole = section.length > 0 && written.length <= sectionCharacters;
    passages.set(rest.url, { ...rest, text: isWhole ? written : markdownText(text) });
  }
  return [...passages.values()];
}

/** Whoever wants to start reads the page that was found best from its start, over its first headings. */
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

/** A passage as clients see it. */
export const foundSource = ({ path, anchor, title, heading, text }: FoundPassage): FoundSource => ({
  content: text,
  path,
  url: pageUrl(path, anchor),
  metadata: { title, heading },
});
