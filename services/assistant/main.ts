import { randomBytes } from 'node:crypto';
import { connectBus } from '#shared/messaging/nats/connect-bus.ts';
import type { Running } from '#shared/runtime/health-server.ts';
import { createLogger } from '#shared/runtime/telemetry.ts';
import { systemClock } from '#shared/runtime/time-and-ids.ts';
import { openSearchIndex } from '#shared/search/open-search-index.ts';
import { openObjectStore } from '#shared/storage/open-object-store.ts';
import { assistantApp } from './assistant-app.ts';
import type { AssistantConfig } from './config.ts';
import { openLanguageModel } from './language-model.ts';

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
  const objects = await openObjectStore(config);
  const searchIndex = await openSearchIndex(config);
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
