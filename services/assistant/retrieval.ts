import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { Caller } from '#shared/interfaces/internal/caller.ts';
import { contentsKey } from '#shared/interfaces/read-models.ts';
import type { EmbedQuestion } from '#shared/embedding/embed-question.ts';
import { ApiError } from '#shared/http/errors.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import type { AnswerSignals } from './answer-signals.ts';
import type { ResumableBudget } from './resumable-budget.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { ownAttributes, tracingOf } from '#shared/runtime/tracing.ts';
import type { Clock, RandomDigits } from '#shared/runtime/time-and-ids.ts';
import { guidanceGroup } from '#shared/search/guidance-page.ts';
import type { FoundPassage, SearchFacets, SearchIndex, SearchQuery, SearchScope } from '#shared/search/search-index.ts';

/** Dependencies and settings of the assistant. */
export type AssistantContext = {
  bus: BusOf<'assistant'>;
  searchIndex: SearchIndex;
  /** Makes the vector of a question. Without it the search uses words alone. */
  embedQuestion?: EmbedQuestion | undefined;
  model: LanguageModelV4;
  logger: Logger;
  clock: Clock;
  random: RandomDigits;
  /** HMAC key for the hashes of fingerprints. */
  hashKey: string;
  /** Storage budget for the conversations of one organization, in bytes. */
  budgetBytes: number;
  answerTimeoutMs: number;
  /** Absent in a preview, whose answers end with their connection. */
  keeping?: KeepingAnswers;
  /** Aborts at shutdown, after the grace period for answers. */
  cutAnswers: AbortSignal;
};

/** Dependencies and settings of answers that can be resumed. */
type KeepingAnswers = {
  signals: AnswerSignals;
  budget: ResumableBudget;
  /** Time that an answer goes on without a reader. */
  unreadMs: number;
  /** The answers of this process that have not ended. */
  inFlight: Set<Promise<void>>;
};

/** The content version of the caller's domain that is searched; undefined until one has been indexed. */
export async function searchedContent(
  { bus }: AssistantContext,
  { organization, domain }: Caller,
): Promise<SearchScope | undefined> {
  const stored = await bus.readModels.directoryContents.get(contentsKey(organization, domain));
  const contentVersion = stored?.document.state.searched;
  return contentVersion === undefined ? undefined : { organization, domain, contentVersion };
}

/**
 * Checks, after a search without results, that its index exists. Throws `unavailable` if the index is missing, for example while a damaged one is
 * rebuilt, because the empty result then says nothing about the content.
 */
export async function requireIndex({ searchIndex }: Pick<AssistantContext, 'searchIndex'>, scope: SearchScope) {
  if ((await searchIndex.facets(scope)) !== undefined) return;
  throw new ApiError('unavailable', beingIndexed, { retryAfterSeconds: rebuiltWithinSeconds });
}

/** `Retry-After` while an index is missing: the indexer looks for lost indexes every 20 seconds. */
const rebuiltWithinSeconds = 30;

/** Sentence for readers while the index is missing: after an update of its format, or after its loss. */
export const beingIndexed = 'The search index of this documentation is being rebuilt. Ask again in a few minutes.';

/** Search filter of a client; an empty value counts as absent. */
type ClientFilter = {
  version?: string | null | undefined;
  language?: string | null | undefined;
  tag?: string | null | undefined;
  groups?: readonly string[] | null | undefined;
};

/** The best passages that the caller may see. */
export function retrievePassages(
  { searchIndex, embedQuestion }: Pick<AssistantContext, 'searchIndex' | 'embedQuestion'>,
  caller: Caller,
  scope: SearchScope,
  { filter, ...query }: Omit<SearchQuery, keyof SearchScope | 'filter'> & { filter: ClientFilter | null | undefined },
): Promise<FoundPassage[]> {
  const { organization, domain, traceparent: parent } = caller;
  const search = async () =>
    searchIndex.search({
      ...scope,
      ...query,
      meaning: await embedQuestion?.(query.query),
      filter: {
        version: filter?.version || undefined,
        language: filter?.language || undefined,
        tag: filter?.tag || undefined,
        groups: trustedGroups(caller, filter?.groups),
      },
    });
  return tracing.inSpan('search', { parent, attributes: ownAttributes({ organization, domain }) }, search);
}

const tracing = tracingOf('assistant');

/** Groups that count for this request. When the gateway knows a reader's groups, a request can narrow them but add none. */
export function trustedGroups(
  { trustedGroups: trusted }: Pick<Caller, 'trustedGroups'>,
  named: readonly string[] | null | undefined,
): readonly string[] {
  if (trusted === 'named') return (named ?? []).filter((group) => group !== guidanceGroup);
  if (trusted.includes(guidanceGroup))
    return trustedGroups({ trustedGroups: trusted.filter((one) => one !== guidanceGroup) }, named);
  return named ? trusted.filter((group) => named.includes(group)) : trusted;
}

/** A sentence about filter values that no page has, or undefined if there are none. It offers no value that only pages with groups have. Pure. */
export function unknownFilter(
  filter: Pick<ClientFilter, 'version' | 'language'> | null | undefined,
  facets: SearchFacets,
  groups: readonly string[],
): string | undefined {
  const known = groups.length === 0 ? facets.open : facets;
  const sentences = [
    sentence('version', filter?.version, known.versions, facets.open.versions),
    // A language filters nothing if no page has a language.
    facets.languages.length === 0
      ? undefined
      : sentence('language', filter?.language, known.languages, facets.open.languages),
  ].filter((text) => text !== undefined);
  return sentences.length === 0 ? undefined : sentences.join(' ');
}

function sentence(
  kind: string,
  value: string | null | undefined,
  known: readonly string[],
  offered: readonly string[],
): string | undefined {
  if (value === null || value === undefined || value === '' || known.includes(value)) return undefined;
  const offer = offered.length === 0 ? `It has no ${kind}s.` : `It has: ${offered.join(', ')}.`;
  return `Nothing was found, because this documentation has no ${kind} "${value}". ${offer}`;
}

/** Address of a page or section within its site: `guides/x` and `install` → `/guides/x#install`; the start page is `/`. */
export function pageUrl(path: string, anchor: string): string {
  const page = path === 'index' ? '/' : `/${path}`;
  const fragment = anchor === '' ? '' : `#${anchor}`;
  return encoded(page).replaceAll(/[?#()]/g, percent) + encoded(fragment).replaceAll(/[()]/g, percent);
}

/** Upper bound for the length of a page path. */
const longestPath = 2_000;

/** The page path in a client's `currentPath`: `/guides/x`, `guides/x.html#a`, or a URL of the site. Undefined if it names no page. */
export function pagePathOf(currentPath: string | null | undefined): string | undefined {
  if (currentPath === null || currentPath === undefined || currentPath.length > longestPath) return undefined;
  if (currentPath.trim() === '') return undefined;
  const parsed = URL.parse(currentPath.trim(), 'http://site/');
  if (!parsed) return undefined;
  let path: string;
  try {
    path = decodeURIComponent(parsed.pathname);
  } catch {
    path = parsed.pathname;
  }
  path = path.replaceAll(/^\/+|(?<!\/)\/+$/g, '').replace(/\.(html|md)$/, '');
  return path === '' ? 'index' : path;
}

/** `encodeURI` throws on lone surrogates. */
const encoded = (text: string): string => encodeURI(text.toWellFormed());

/** Parentheses end links in Markdown, so they are encoded too. */
const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
