import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import pino from 'pino';
import { assistantApp } from '#services/assistant/assistant-app.ts';
import { extractiveModel } from '#services/assistant/extractive-model.ts';
import { serviceTokenHeader } from '#shared/interfaces/internal/internal-server.ts';
import { callerHeader, callerText } from '#shared/interfaces/internal/caller.ts';
import { serviceMetrics } from '#shared/runtime/metrics.ts';
import { randomBase62, systemClock } from '#shared/runtime/time-and-ids.ts';
import { ApiError } from '#shared/http/errors.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { type LocalIndex, openLocalIndex } from '../local-index.ts';
import { localThreads } from './local-threads.ts';

/** The assistant of pages on this machine: the one of the services, without a language model, over an index of the folder. */
export type LocalAssistant = {
  /** Answers a request of the assistant's panel. False if the address is none of them. */
  answer(request: IncomingMessage, response: ServerResponse): boolean;
  /** Called when files of the folder changed. */
  changed(): void;
  close(): Promise<void>;
};

/** Calls of the panel, and the routes of the assistant that answer them. */
const routes = new Map([
  ['/discovery/v2/assistant/preview/message', '/internal/message'],
  ['/discovery/v1/feedback/preview', '/internal/feedback'],
]);

const noTrace = `00-${'1'.repeat(32)}-${'1'.repeat(16)}-00`;
const answerTimeoutMs = 60_000;
const budgetBytes = 20_000_000;

/**
 * Begins to index the folder, and answers as soon as that is done; until then it asks readers to try again. If the project cannot be read, the next
 * change of its files begins again. `say` gets sentences for people.
 */
export function localAssistant(folder: string, say: (sentence: string) => void): LocalAssistant {
  let opened: OpenAssistant | undefined;
  let opening: Promise<void> | undefined;
  let isClosed = false;
  const open = async (): Promise<void> => {
    try {
      opened = await openAssistant(await openLocalIndex(folder, say));
      say('The assistant answers now.');
    } catch (error) {
      say(`The assistant cannot answer, because the project cannot be read: ${messageOf(error)}`);
    }
  };
  const begin = (): void => {
    if (!isClosed) opening ??= open().finally(() => (opening = undefined));
  };
  begin();
  return {
    answer(request, response) {
      const route = routes.get(new URL(request.url ?? '/', 'http://localhost').pathname);
      if (route === undefined) return false;
      if (opened === undefined) notYet(response);
      else opened.answer(route, request, response);
      return true;
    },
    changed() {
      if (opened === undefined) begin();
      else opened.index.changed();
    },
    async close() {
      isClosed = true;
      await opening;
      await opened?.close();
    },
  };
}

function notYet(response: ServerResponse): void {
  const error = new ApiError('unavailable', 'The project is being indexed. Ask again in a few seconds.');
  response.writeHead(error.status, { 'content-type': 'application/json', 'retry-after': '2' });
  response.end(JSON.stringify(error.toBody('local')));
}

type OpenAssistant = {
  index: LocalIndex;
  answer(route: string, request: IncomingMessage, response: ServerResponse): void;
  close(): Promise<void>;
};

async function openAssistant(index: LocalIndex): Promise<OpenAssistant> {
  const logger = pino({ level: 'silent' });
  const serviceToken = randomBytes(32).toString('hex');
  const cut = new AbortController();
  const context = {
    ...{ bus: localThreads(() => index.current().scope.contentVersion), searchIndex: index.index, logger },
    ...{ model: extractiveModel(), clock: systemClock, random: randomBase62 },
    ...{ hashKey: randomBytes(32).toString('hex'), budgetBytes, answerTimeoutMs, cutAnswers: cut.signal },
  };
  const app = assistantApp(context, {
    ...{ callerTokens: { gateway: serviceToken }, logger, checks: {} },
    ...{ draining: () => false, metrics: serviceMetrics('assistant') },
  });
  await app.ready();
  const { organization, domain } = index.current().scope;
  const caller = callerText({
    ...{ requestId: 'local', organization, organizationPlan: 'enterprise', domain, groupTrust: 'claimed' },
    ...{ trustedGroups: 'named', actor: { kind: 'person', id: 'author' }, address: '127.0.0.1', traceparent: noTrace },
  });
  return {
    index,
    answer(route, request, response) {
      request.url = route;
      request.headers[serviceTokenHeader] = serviceToken;
      request.headers[callerHeader] = caller;
      app.routing(request, response);
    },
    async close() {
      cut.abort(new Error('The preview stops.'));
      await app.close();
      await index.close();
    },
  };
}
