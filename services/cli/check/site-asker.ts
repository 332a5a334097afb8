import { Agent, type Dispatcher, request } from 'undici';
import { z } from 'zod';
import { guardedLookup, literalAddress } from '#shared/http/guarded-lookup.ts';
import { errorCode, messageOf } from '#shared/runtime/failures.ts';
import { programVersion } from '#shared/runtime/program-version.ts';
import { isRefused } from '../private-networks.ts';

/**
 * Answer about a page of another site. `why` ends a sentence. `to`: the address to which a page has moved permanently. `retryAfterMs`: the pause
 * that the site asks for. `noConnection`: no server was reached. `isPrivate`: the address is one of a private network and was not asked.
 */
export const answerSchema = z.object({
  kind: z.enum(['there', 'moved', 'gone', 'unknown']),
  why: z.string().optional(),
  to: z.string().optional(),
  retryAfterMs: z.number().optional(),
  noConnection: z.boolean().optional(),
  isPrivate: z.boolean().optional(),
});
export type Answer = z.infer<typeof answerSchema>;

export type SiteAskerOptions = {
  allowPrivate: boolean;
  /** Limit of one request, with its redirects. */
  withinMs: number;
  /** The longest pause that a site may ask for. */
  mostRetryAfterMs: number;
};

const mostRedirects = 10;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const permanent: ReadonlySet<number> = new Set([301, 308]);

/** The address is one of this machine or a private network. */
class PrivateAddress extends Error {
  override name = 'PrivateAddress';
}

/** A page of another network redirects there. */
class PrivateRedirect extends PrivateAddress {
  override name = 'PrivateRedirect';
}

/** True for an address that was not asked, also if undici reports that as the cause of a failed connection. */
const isOfPrivate = (error: unknown): boolean =>
  error instanceof PrivateAddress || (error instanceof Error && error.cause instanceof PrivateAddress);

/** Connections that may lead to private networks, or not. */
type Way = { agent: Agent; isForbidden: (address: string) => boolean };

type Outcome = { status: number; url: URL; isPermanent: boolean; retryAfterMs?: number };

/** Asks for single pages. `ask` never rejects. Each redirect is checked, and so is each address that a name resolves to. */
export function siteAsker({ allowPrivate, withinMs = 15_000, mostRetryAfterMs = 5_000 }: Partial<SiteAskerOptions>): {
  ask: (address: string) => Promise<Answer>;
  close: () => Promise<void>;
} {
  const way = (mayBePrivate: boolean): Way => {
    const isForbidden = (address: string): boolean => isRefused(address, mayBePrivate);
    const lookup = guardedLookup(isForbidden, (host) => new PrivateAddress(`${host} is in a private network`));
    const connect = { lookup, timeout: withinMs };
    return { isForbidden, agent: new Agent({ connect, pipelining: 1, connections: 2, maxHeaderSize: 64 * 1024 }) };
  };
  const [publicWay, privateWay] = [way(false), allowPrivate === true ? way(true) : undefined];

  /** A site of the Internet must not redirect to a private address, so that such addresses are only allowed from the first request on. */
  async function follow(first: string, method: 'HEAD' | 'GET'): Promise<Outcome> {
    try {
      return await followBy(publicWay, first, method);
    } catch (error) {
      if (privateWay === undefined || !isOfPrivate(error)) throw error;
      if (error instanceof PrivateRedirect) throw new Error('it redirects to a private network', { cause: error });
      return await followBy(privateWay, first, method);
    }
  }

  async function followBy({ agent, isForbidden }: Way, first: string, method: 'HEAD' | 'GET'): Promise<Outcome> {
    const signal = AbortSignal.timeout(withinMs);
    let url = new URL(first);
    let isPermanent = true;
    for (let count = 0; ; count += 1) {
      const literal = literalAddress(url);
      const refused = (): PrivateAddress =>
        new (count === 0 ? PrivateAddress : PrivateRedirect)(`${url.host} is in a private network`);
      if (literal !== undefined && isForbidden(literal)) throw refused();
      const {
        statusCode: status,
        headers,
        body,
      } = await request(url, {
        ...{ method, signal, dispatcher: agent },
        headers: {
          'user-agent': `Mozilla/5.0 (compatible; bindery-check/${programVersion})`,
          accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
          'accept-language': 'en,*;q=0.5',
        },
      }).catch((error: unknown) => {
        throw isOfPrivate(error) ? refused() : error;
      });
      discard(body);
      const location = headers['location'];
      if (!redirects.has(status) || typeof location !== 'string')
        return {
          status,
          url,
          isPermanent: isPermanent && count > 0,
          ...retryOf(headers['retry-after'], mostRetryAfterMs),
        };
      if (count >= mostRedirects) throw new Error(`it redirects more than ${mostRedirects} times`);
      const next = URL.parse(location, url.href);
      if (next === null || !/^https?:$/.test(next.protocol)) throw new Error('it redirects to an invalid address');
      isPermanent &&= permanent.has(status);
      url = next;
    }
  }

  async function ask(address: string): Promise<Answer> {
    try {
      let outcome = await follow(address, 'HEAD').catch((error: unknown) => {
        if (isOfPrivate(error) || isOfName(error)) throw error;
        return undefined;
      });
      // Many servers refuse HEAD or answer it wrongly, so only GET decides about a page that seems to be missing.
      if (outcome === undefined || outcome.status >= 400) {
        if (outcome?.status === 429) return answerOf(address, outcome);
        outcome = await follow(address, 'GET');
      }
      return answerOf(address, outcome);
    } catch (error) {
      return failureOf(error, withinMs);
    }
  }

  return {
    ask,
    close: async () => {
      await Promise.all([publicWay.agent.destroy(), privateWay?.agent.destroy()]);
    },
  };
}

/** Ends an answer without reading it. Without a listener, an error of the body would end the process. */
function discard(body: Dispatcher.ResponseData['body']): void {
  body.on('error', () => undefined);
  body.destroy();
}

function retryOf(written: string | string[] | undefined, most: number): { retryAfterMs?: number } {
  const seconds = typeof written === 'string' ? Number(written) : Number.NaN;
  return seconds > 0 ? { retryAfterMs: Math.min(most, seconds * 1_000) } : {};
}

function answerOf(address: string, { status, url, isPermanent, retryAfterMs }: Outcome): Answer {
  const pause = retryAfterMs === undefined ? {} : { retryAfterMs };
  if (status === 404 || status === 410) return { kind: 'gone', why: `its site answers ${status}`, ...pause };
  if (status < 200 || status >= 400) return { kind: 'unknown', why: `its site answers ${status}`, ...pause };
  return isPermanent && !isSamePage(new URL(address), url) ? { kind: 'moved', to: url.href } : { kind: 'there' };
}

/** True if two addresses differ only in ways that are no move: the protocol, `www.`, a slash at the end, a language. */
function isSamePage(one: URL, other: URL): boolean {
  const nameOf = ({ host, pathname }: URL): string =>
    `${host.replace(/^www\./, '')}${pathname.replace(/^\/[a-z]{2}(?:[-_][a-z]{2})?(?=\/|$)/i, '').replace(/\/+$/, '')}`.toLowerCase();
  return nameOf(one) === nameOf(other);
}

/** True if the name server knows no such host. */
const isOfName = (error: unknown): boolean => errorCode(error) === 'ENOTFOUND';

function failureOf(error: unknown, withinMs: number): Answer {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof PrivateRedirect && !(error instanceof PrivateRedirect))
    return { kind: 'unknown', why: messageOf(error) };
  if (isOfPrivate(error)) return { kind: 'unknown', why: 'it is in a private network', isPrivate: true };
  const code = errorCode(cause) ?? errorCode(error) ?? '';
  if (code === 'ENOTFOUND') return { kind: 'gone', why: 'its host is not found', noConnection: true };
  if (code === 'EAI_AGAIN') return { kind: 'unknown', why: 'the name server does not answer', noConnection: true };
  if (/CERT|SSL|TLS|UNABLE_TO_VERIFY|SELF_SIGNED/.test(code))
    return { kind: 'unknown', why: 'its certificate is not valid' };
  if (/TIMEOUT|ABORT/i.test(code) || (error instanceof Error && /Timeout|Abort/.test(error.name)))
    return { kind: 'unknown', why: `its site did not answer within ${withinMs / 1_000} s` };
  const noConnection = /ECONN|ENET|EHOST|SOCKET/.test(code);
  return {
    kind: 'unknown',
    why: code === '' ? messageOf(error) : `its site cannot be reached (${code})`,
    noConnection,
  };
}
