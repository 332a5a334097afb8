import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { contentHeader } from '#shared/interfaces/http/sites.ts';

const withinMs = 20_000;
const pauseMs = 50;
const answerWithinMs = 5_000;
/** Number of refused connections after which the site counts as unreachable from this machine. */
const mostRefused = 5;

/**
 * Outcome of a request to the site from this machine. `login`: the site is behind a login; a number: the status of its host; `unseen`: nothing
 * answers.
 */
type Seen = 'served' | 'login' | 'unseen' | number;

/**
 * Resolves when the first page of a site is of this content version, is behind a login, or cannot be reached from this machine, although readers may
 * reach it; after 20 seconds in any case.
 */
async function whenServed(address: string, contentVersion: string): Promise<Seen> {
  const end = performance.now() + withinMs;
  let seen: Seen = 'unseen';
  for (let refused = 0; performance.now() < end && refused < mostRefused; ) {
    const served = await servedContent(new URL(address)).catch(() => undefined);
    if (served === contentVersion) return 'served';
    if (served === 'login') return 'login';
    seen = typeof served === 'number' ? served : 'unseen';
    refused = served === undefined ? refused + 1 : 0;
    await delay(pauseMs);
  }
  return seen;
}

/** The content version of the first page, `login` if only readers who logged in see it, or else the status. Rejects if nothing answers. */
async function servedContent(url: URL): Promise<string | number> {
  const isLocal = url.hostname === 'localhost' || url.hostname.endsWith('.localhost');
  // Browsers resolve names below "localhost" to this machine; many resolvers do not.
  const at = { host: isLocal ? '127.0.0.1' : url.hostname, port: url.port, path: '/', headers: { host: url.host } };
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return await new Promise((resolve, reject) => {
    const options = { ...at, servername: url.hostname, method: 'HEAD', agent: false, timeout: answerWithinMs } as const;
    const asked = send(options, (answer) => {
      answer.resume();
      const said = answer.headers[contentHeader];
      const { statusCode = 0 } = answer;
      if (typeof said === 'string') resolve(said);
      else resolve(statusCode === 401 || (statusCode >= 300 && statusCode < 400) ? 'login' : statusCode);
    });
    asked.on('timeout', () => asked.destroy(new Error('no answer')));
    asked.on('error', reject);
    asked.end();
  });
}

/** Waits for a site, and says whether it serves the content. */
export async function servedSentence(address: string, contentVersion: string): Promise<string> {
  const seen = await whenServed(address, contentVersion);
  if (seen === 'served') return `Readers see it at ${address}`;
  if (seen === 'login') return `Readers who log in see it at ${address}`;
  const why =
    typeof seen === 'number' && seen >= 400
      ? `its host answers with status ${seen} and the reason`
      : 'this machine cannot reach it';
  return `It is live on the platform, and hosts of sites are fetching it: ${address} (${why})`;
}
