import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterEach, beforeEach } from 'vitest';
import { onLoopback } from './on-loopback.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** An answer with a body, as JSON if `headers` name no other type. */
export const answering =
  (body: string | Buffer, headers: Record<string, string> = {}, status = 200): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  };

/** An API description with one operation. */
export const description = (summary = 'List users'): string =>
  JSON.stringify({ openapi: '3.0.1', info: {}, paths: { '/users': { get: { summary } } } });

/**
 * Starts a site before each test, and stops it after. It has an API description at `/openapi.json`; tests add their own `answers` by path. Other
 * paths are 404. `asked` has the paths of all requests. `stop` makes it unreachable.
 */
export function otherSite() {
  const site = {
    answers: {} as Record<string, Answer>,
    asked: [] as string[],
    origin: '',
    stop: (): Promise<void> => Promise.resolve(),
  };
  beforeEach(async () => {
    site.answers = { '/openapi.json': answering(description()) };
    site.asked = [];
    const server = createServer((request, response) => {
      site.asked.push(request.url ?? '');
      (site.answers[request.url ?? ''] ?? answering('no', {}, 404))(response, request);
    });
    ({ url: site.origin, close: site.stop } = await onLoopback(server));
  });
  afterEach(() => site.stop());
  return site;
}
