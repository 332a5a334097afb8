import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { questionEmbedder } from '#shared/embedding/embed-question.ts';
import { openEmbedder } from '#shared/embedding/open-embedder.ts';
import { type Running, startService } from '#shared/service/start-service.ts';
import { openSearchIndex } from '#shared/search/open-search-index.ts';
import { answerSignals } from './answer-signals.ts';
import { assistantApp } from './assistant-app.ts';
import type { AssistantConfig } from './config.ts';
import { unreadMs } from './kept-answer.ts';
import { openLanguageModel } from './language-model.ts';
import { resumableBudget } from './resumable-budget.ts';

export { assistantSettings as settings } from './config.ts';

/** Grace period for streams in flight at shutdown. After it they are aborted, early enough to be recorded. */
const drainMs = 4_000;

/** Time in which answers that were aborted are recorded. */
const recordMs = 5_000;

/** Answers questions from the documentation, and searches it. */
export function start(config: AssistantConfig): Promise<Running> {
  return startService('assistant', config, async (service) => {
    const { hashKey } = config;
    const callerTokens = { gateway: config.gatewayToken };
    const model = await openLanguageModel(config);
    const searchIndex = await openSearchIndex(config);
    const embedder = searchIndex.startVectors && (await openEmbedder(config, service.metrics));
    const embedQuestion =
      embedder && questionEmbedder(embedder, { withinMs: config.embedQuestionMs, logger: service.logger });
    const cut = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const answerTimeoutMs = config.answerTimeoutSeconds * 1_000;
    const budgetBytes = config.conversationMegabytes * 1_000_000;
    const inFlight = new Set<Promise<void>>();
    const keeping = {
      signals: answerSignals(service.bus),
      budget: resumableBudget(config.resumableMegabytes * 1_000_000),
      unreadMs,
      inFlight,
    };
    const context = {
      ...service,
      searchIndex,
      embedQuestion,
      model,
      hashKey,
      budgetBytes,
      answerTimeoutMs,
      keeping,
      cutAnswers: cut.signal,
    };
    // The assistant does not use the object store.
    const checks = { bus: () => service.bus.check(), search: () => searchIndex.check('search') };
    return {
      app: assistantApp(context, { ...service, callerTokens, checks }),
      async drain() {
        timer = setTimeout(() => cut.abort(new Error('The service stops.')), drainMs);
      },
      async close() {
        // Answers without a connection get the same time, and are recorded.
        const ended = Promise.allSettled(inFlight);
        if (!cut.signal.aborted) await Promise.race([ended, once(cut.signal, 'abort')]);
        await Promise.race([ended, delay(recordMs, undefined, { ref: false })]);
        clearTimeout(timer);
        await searchIndex.close();
      },
    };
  });
}
