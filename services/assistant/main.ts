import { randomBytes } from 'node:crypto';
import { systemClock } from '#shared/clock/clock.ts';
import { openLanguageModel } from '#shared/language-model/open-language-model.ts';
import type { Running } from '#shared/lifecycle/running.ts';
import { connectBus } from '#shared/nats/connect-bus.ts';
import { objectStoreFromConfig } from '#shared/object-store/object-store-from-config.ts';
import { openObjectStore } from '#shared/object-store/open-object-store.ts';
import { openSearchIndex } from '#shared/search/open-search-index.ts';
import { createLogger } from '#shared/telemetry/logger.ts';
import { assistantApp } from './assistant-app.ts';
import type { AssistantConfig } from './config.ts';

/** Answers that are being streamed get so long to end when the service stops. */
const DRAIN_MS = 5_000;

/** Retrieval, prompt, model stream, threads. */
export async function start(config: AssistantConfig): Promise<Running> {
  const name = 'assistant';
  const instance = randomBytes(4).toString('hex');
  const logger = createLogger(name, instance);
  const model = await openLanguageModel(config);
  const bus = await connectBus({
    url: config.natsUrl,
    service: name,
    password: config.natsPassword,
    instance,
    log: logger,
  });
  const objects = await openObjectStore(objectStoreFromConfig(config));
  const searchIndex = openSearchIndex(config);
  const stopping = new AbortController();
  let draining = false;
  const app = assistantApp({
    bus,
    objects,
    searchIndex,
    model,
    logger,
    clock: systemClock,
    hashKey: config.hashKey,
    serviceToken: config.serviceToken,
    answerTimeoutMs: config.answerTimeoutSeconds * 1000,
    stopping: stopping.signal,
    draining: () => draining,
  });
  const url = await app.listen({ host: config.host, port: config.port });
  return {
    name,
    url,
    async stop() {
      draining = true;
      const timer = setTimeout(() => stopping.abort(new Error('The service stops.')), DRAIN_MS);
      await app.close();
      clearTimeout(timer);
      await Promise.all([searchIndex.close(), objects.close()]);
      await bus.close();
    },
  };
}
