import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { Bus } from '#shared/bus/bus.ts';
import type { Caller } from '#shared/internal-http/caller.ts';
import type { SearchIndex } from '#shared/search/search-index.ts';
import type { Logger } from '#shared/telemetry/logger.ts';
import type { AnswerOutcome } from './answer-outcome.ts';
import { answerPrompt, promptPassage } from './answer-prompt.ts';
import type { Turn } from './conversation-turns.ts';
import { fixedAnswer } from './fixed-answer.ts';
import type { MessageBody } from './message-body.ts';
import { modelAnswer } from './model-answer.ts';
import { pagePathOf } from './page-url.ts';
import { retrievalQuery } from './retrieval-query.ts';
import { searchedContent, trustedGroups } from './searched-content.ts';
import type { UiChunk } from './ui-chunk-filter.ts';
import { unknownFilter } from './unknown-filter.ts';

export type AnswerParts = { bus: Bus; searchIndex: SearchIndex; model: LanguageModelV4; logger: Logger };

/** Streams the answer and fills in what becomes of it. */
export type PreparedAnswer = (signal: AbortSignal, outcome: AnswerOutcome) => AsyncGenerator<UiChunk>;

const DEFAULT_PASSAGES = 5;
const PASSAGES_PER_PAGE = 3;

const nothingPublished = 'Nothing has been published and indexed here yet, so there is nothing to answer from.';

/** Finds what the answer is made from. Whatever fails here fails before anything has been sent. */
export async function prepareAnswer(
  parts: AnswerParts,
  caller: Caller,
  body: MessageBody,
  turns: readonly Turn[],
): Promise<PreparedAnswer> {
  const scope = await searchedContent(parts.bus.documents.directoryContents, caller);
  const facets = scope && (await parts.searchIndex.facets(scope));
  if (!scope || !facets) return (_signal, outcome) => fixedAnswer(nothingPublished, outcome);
  const unknown = unknownFilter(body.filter, facets);
  if (unknown !== undefined) return (_signal, outcome) => fixedAnswer(unknown, outcome);

  const currentPath = pagePathOf(body.currentPath);
  const found = await parts.searchIndex.search({
    ...scope,
    query: retrievalQuery(turns),
    limit: body.retrievalPageSize ?? DEFAULT_PASSAGES,
    passagesPerPage: PASSAGES_PER_PAGE,
    filter: {
      version: body.filter?.version || undefined,
      language: body.filter?.language || undefined,
      groups: trustedGroups(caller, body.filter?.groups),
    },
    near: currentPath,
  });
  const passages = found.map(promptPassage);
  const prompt = answerPrompt(turns, passages, { items: body.context ?? [], currentPath });
  return (signal, outcome) =>
    modelAnswer({ model: parts.model, logger: parts.logger, prompt, passages, signal }, outcome);
}
