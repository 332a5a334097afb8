import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { contentHeader } from '#shared/interfaces/http/sites.ts';

const withinMs = 20_000;
const pauseMs = 50;
const answerWithinMs = 5_000;
/** Refusals of a connection after which the site counts as out of reach from here. */
const mostRefused = 5;

/**
 * Resolves to true when the first page of a site is of this content version. Resolves to false if it is not within 20 seconds, or the site is behind a
 * login or cannot be reached from here, which says nothing about its readers.
 */
async function whenServed(address: string, contentVersion: string): Promise<boolean> {
  const end = performance.now() + withinMs;
  for (let refused = 0; performance.now() < end && refused < mostRefused; ) {
    const served = await servedContent(new URL(address)).catch(() => undefined);
    if (served === contentVersion) return true;
    if (served === 'login') return false;
    refused = served === undefined ? refused + 1 : 0;
    await delay(pauseMs);
  }
  return false;
}

/** The content version of the first page; empty if it names none, `login` if only readers who logged in see it. Rejects if nothing answers. */
async function servedContent(url: URL): Promise<string> {
  const isLocal = url.hostname === 'localhost' || url.hostname.endsWith('.localhost');
  // Browsers lead names below "localhost" to this machine, and many resolvers know none of them.
  const at = { host: isLocal ? '127.0.0.1' : url.hostname, port: url.port, path: '/', headers: { host: url.host } };
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return await new Promise((resolve, reject) => {
    const options = { ...at, servername: url.hostname, method: 'HEAD', agent: false, timeout: answerWithinMs } as const;
    const asked = send(options, (answer) => {
      answer.resume();
      const said = answer.headers[contentHeader];
      const { statusCode = 0 } = answer;
      if (typeof said === 'string') resolve(said);
      else resolve(statusCode === 401 || (statusCode >= 300 && statusCode < 400) ? 'login' : '');
    });
    asked.on('timeout', () => asked.destroy(new Error('no answer')));
    asked.on('error', reject);
    asked.end();
  });
}

/** Waits for a site, and says whether it serves the content. */
export const servedSentence = async (address: string, contentVersion: string): Promise<string> =>
  (await whenServed(address, contentVersion))
    ? `Readers see it at ${address}`
    : `It is live on the platform, and hosts of sites take it now: ${address} (it could not be seen from here)`;
