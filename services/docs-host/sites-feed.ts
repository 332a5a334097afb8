import { setTimeout as delay } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import { z } from 'zod';
import {
  checksLoginsHeader,
  goneSiteSchema,
  namesLoginsHeader,
  type ServedLogin,
  servedLoginSchema,
  type ServedSite,
  servedSiteSchema,
} from '#shared/interfaces/http/sites.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import { messageOf, Unavailable } from '#shared/runtime/failures.ts';
import { firstProblem, problemText } from '#shared/runtime/problem-text.ts';
import { pauseAfter, type RetryPolicy } from '#shared/runtime/retry.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { BundleRefused } from './bundle-refused.ts';
import { refusalOfPlatform } from './call-platform.ts';
import { safeRequest, textOf } from './download-bundle.ts';
import type { SitesPlatform } from './sites-settings.ts';

/** Receiver of the feed's events, in their order. */
export type FeedReader = {
  /** `namesLogins`: without a login in it, the site has none. False for the feed of an older platform, which may not know of it. */
  onSite(site: ServedSite, namesLogins: boolean): void;
  /** Called for an event that cannot be read, except for its login. */
  onRefused(site: string, login: ServedLogin): void;
  onGone(site: string): void;
  /** Called when all sites have been named since the connection began; all other sites have left the feed. */
  onWhole(named: ReadonlySet<string>): void;
};

export type FeedTimes = {
  /** Silence after which the connection is closed. The platform sends a comment every 15 s. */
  silentMs: number;
  retries: RetryPolicy;
};

const usualTimes: FeedTimes = { silentMs: 45_000, retries: { firstPauseMs: 500, longestPauseMs: 30_000 } };
/** Limit of one event. A site with the most hosts takes a tenth of it. */
const mostEventCharacters = 128 * 1024;
const mostReasonBytes = 64 * 1024;
/** Limit of log lines about refused events of one connection. */
const mostRefusalsLogged = 10;
/** Limit of the sites that one connection names. */
const mostSites = 200_000;

/** A login that cannot be read, such as one of a newer platform, closes the site. */
const loginSchema = servedLoginSchema.optional().catch({ kind: 'closed' });

/** A site of the feed, as a host keeps it. */
export const hostedSiteSchema = servedSiteSchema.extend({ login: loginSchema });

/** The parts of a served site that the host uses as names of folders and hosts, more strictly than clients need. */
const siteSchema = hostedSiteSchema
  .extend({
    site: z.string().max(300),
    address: z.url({ protocol: /^https?$/ }).max(2_000),
    hosts: z
      .array(
        z
          .string()
          .max(253)
          .regex(/^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/, 'must be host names in lower case'),
      )
      .min(1)
      .max(100),
    sizeBytes: z.int().min(0),
  })
  .refine(
    ({ site, organization, domain, label }) =>
      site === [organization, domain, ...(label === undefined ? [] : [label])].join('/'),
    'the name of the site does not match its organization, domain and label',
  );

/** An event of the feed. A string is the reason of a refusal; `site` names the site that the refused event may be about. */
type Read =
  | { kind: 'site'; site: ServedSite }
  | { kind: 'gone'; site: string }
  | { kind: 'whole' }
  | { kind: 'unknown' }
  | { kind: 'refused'; why: string; site: string | undefined; login?: ServedLogin | undefined };

/** Reads one event. Events of other names are left to newer hosts. Pure. */
export function readFeedEvent({ event, data }: { event?: string | undefined; data: string }): Read {
  if (event === 'whole') return { kind: 'whole' };
  if (event !== 'site' && event !== 'gone') return { kind: 'unknown' };
  const value = jsonIn(data);
  if (event === 'gone') {
    const gone = goneSiteSchema.safeParse(value);
    return gone.success
      ? { kind: 'gone', site: gone.data.site }
      : { kind: 'refused', why: 'it names no site', site: undefined };
  }
  const site = siteSchema.safeParse(value, { error: problemText });
  if (site.success) return { kind: 'site', site: site.data };
  const about = z.object({ site: z.string(), login: loginSchema }).safeParse(value).data;
  return { kind: 'refused', why: firstProblem(site.error, 'the site'), site: about?.site, login: about?.login };
}

/**
 * Follows the feed of sites until the signal aborts. A connection that ends, fails or is silent is replaced after a backoff, and everything is read
 * again. Events that cannot be read are skipped and logged: a site whose event is refused stays unchanged.
 */
export function followSitesFeed(
  { url, key }: SitesPlatform,
  reader: FeedReader,
  { logger, signal, times = usualTimes }: { logger: Logger; signal: AbortSignal; times?: FeedTimes | undefined },
) {
  let problem: string | undefined = 'the platform was not reached yet';
  let isWhole = false;

  /** Reads one connection to its end, and rejects with the reason of the end. */
  async function read(): Promise<never> {
    const silence = new AbortController();
    const ended = AbortSignal.any([signal, silence.signal]);
    const timer = setTimeout(
      () => silence.abort(new Unavailable(`the feed of sites was silent for ${times.silentMs / 1_000} s`)),
      times.silentMs,
    );
    try {
      const { statusCode, headers, body } = await safeRequest(new URL(`${url.replace(/\/+$/, '')}/v1/sites/feed`), {
        headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream', [checksLoginsHeader]: '1' },
        headersTimeout: times.silentMs,
        bodyTimeout: 0,
        signal: ended,
      });
      body.on('error', () => {});
      if (statusCode !== 200)
        throw refusalOfPlatform(statusCode, await textOf(body, mostReasonBytes).catch(() => ''), settingsOf);
      if (!String(headers['content-type']).startsWith('text/event-stream'))
        throw new Unavailable('the platform sent no feed of sites');
      const take = eventTaker(headers[namesLoginsHeader] === '1');
      const decoder = new TextDecoder();
      for await (const chunk of body as AsyncIterable<Buffer>) {
        timer.refresh();
        take(decoder.decode(chunk, { stream: true }));
      }
      throw new Unavailable('the platform ended the feed of sites');
    } catch (error) {
      throw silence.signal.aborted && !signal.aborted ? silence.signal.reason : error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Returns a function that reads the text of one connection. It throws when the text is not a feed. */
  function eventTaker(namesLogins: boolean): (text: string) => void {
    const named = new Set<string>();
    let refusals = 0;
    const refuse = (why: string): void => {
      refusals += 1;
      if (refusals <= mostRefusalsLogged)
        logger.error(`an event of the feed of sites is refused: ${why.slice(0, 300)}`);
    };
    const parser = createParser({
      maxBufferSize: mostEventCharacters,
      onEvent(event) {
        const found = readFeedEvent(event);
        if (found.kind === 'refused') {
          const { site, login } = found;
          if (site !== undefined && named.size < mostSites) named.add(site);
          if (site !== undefined && login !== undefined) reader.onRefused(site, login);
          return refuse(found.why);
        }
        if (found.kind === 'site') {
          const { site } = found.site;
          if (named.size >= mostSites && !named.has(site)) return refuse(`there are more than ${mostSites} sites`);
          named.add(site);
          reader.onSite(found.site, namesLogins);
        } else if (found.kind === 'gone') {
          named.delete(found.site);
          reader.onGone(found.site);
        } else if (found.kind === 'whole') {
          isWhole = true;
          if (problem !== undefined) logger.info({ sites: named.size }, 'the feed of sites is followed');
          problem = undefined;
          failed = 0;
          reader.onWhole(named);
        }
      },
    });
    return (text) => {
      try {
        parser.feed(text);
      } catch (error) {
        throw new Unavailable(`the feed of sites cannot be read: ${messageOf(error)}`, { cause: error });
      }
    };
  }

  let failed = 0;

  /** Ends when the signal aborts. */
  async function follow(): Promise<void> {
    while (!signal.aborted) {
      try {
        await read();
      } catch (error) {
        if (signal.aborted) return;
        failed += 1;
        const said = messageOf(error);
        // A repeated message is logged once, because the same line every minute would hide others.
        if (said !== problem)
          logger[error instanceof BundleRefused ? 'error' : 'warn'](
            { err: error instanceof BundleRefused || error instanceof Unavailable ? undefined : error },
            `Sites stay unchanged: ${said.replace(/\.$/, '')}.`,
          );
        problem = said;
      }
      // Jitter, so that hosts that lost the same platform do not reconnect at the same moment.
      const pauseMs = pauseAfter(failed, times.retries) * (0.5 + Math.random() / 2);
      await delay(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  return {
    follow,
    /** The reason why changes of sites may be missed; undefined if there is none. */
    problem: () => problem,
    /** True once a connection has named all sites. */
    wasWhole: () => isWhole,
  };
}

/** The settings to check, by the status of a refusal. */
const settingsOf: Readonly<Record<number, string>> = {
  401: 'BINDERY_SITES_KEY',
  403: 'BINDERY_SITES_KEY',
  404: 'BINDERY_PLATFORM_URL',
};
