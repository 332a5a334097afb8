import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import type { ServedSite, SitesFeedEvent } from '#shared/interfaces/http/sites.ts';
import { organizationIn, type SiteDocument, siteKey } from '#shared/interfaces/read-models.ts';
import { type DocumentStore, keepFollowing } from '#shared/messaging/read-models.ts';
import { ApiError } from '#shared/http/errors.ts';
import { withDeadline } from '#shared/runtime/with-deadline.ts';
import type { SitesBase } from '#shared/interfaces/http/sites-base.ts';
import { changeWait } from '../newest-revisions.ts';
import { servedSites } from './site-addresses.ts';

/** The live sites and previews of the installation, and how they change. One watch of the read model serves all connections of this gateway. */
export type SitesFeed = {
  /** The events of the feed for one connection, until `signal` aborts, and `quiet` after each 15 seconds without one. Rejects with `unavailable` when the sites cannot be read. */
  events(signal: AbortSignal): AsyncGenerator<SitesFeedEvent | 'quiet'>;
  /** The live site or preview with that host name. Rejects as `events` does. */
  siteOfHost(host: string): Promise<ServedSite | undefined>;
  /** The live site of a domain, without its previews. Rejects as `events` does. */
  liveSite(organization: string, domain: string): Promise<ServedSite | undefined>;
  /** The live sites, without previews, that have this host name or else are of a domain with this name. Rejects as `events` does. */
  liveSitesNamed(name: string): Promise<ServedSite[]>;
  /** Calls `listener` at each change of a domain's site, until the returned function is called. `key` is the key of the site's document. */
  onChange(key: string, listener: (document: SiteDocument) => void): () => void;
  /** The same for the sites of all domains of an organization. */
  onChangeOfAny(organization: string, listener: (document: SiteDocument) => void): () => void;
};

const knownWithinMs = 6_000;
/** Number of waiting events above which a connection is closed. Its host reconnects and reads all sites again. */
const mostBehind = 10_000;

type Sites = ReadonlyMap<string, ServedSite>;

/** The watch begins with the first call and ends when `stopping` aborts. */
export function sitesFeed(
  store: Pick<DocumentStore<SiteDocument>, 'watch'>,
  base: SitesBase,
  logger: Logger,
  stopping: AbortSignal,
): SitesFeed {
  setMaxListeners(0, stopping);
  /** The served sites of each domain, by the key of its document. */
  const known = new Map<string, Sites>();
  const hosts = new Map<string, ServedSite>();
  const connections = new Set<(event: SitesFeedEvent) => void>();
  const listeners = new Map<string, Set<(document: SiteDocument) => void>>();
  let isKnown: PromiseWithResolvers<void> | undefined;

  function change(key: string, sites: readonly ServedSite[]): void {
    const before = known.get(key) ?? new Map<string, ServedSite>();
    const after = new Map(sites.map((site) => [site.site, site]));
    if (after.size === 0) known.delete(key);
    else known.set(key, after);
    for (const [id, site] of before) {
      for (const host of site.hosts) if (hosts.get(host)?.site === id) hosts.delete(host);
      if (!after.has(id)) send({ event: 'gone', data: { site: id } });
    }
    for (const [id, site] of after) {
      for (const host of site.hosts) hosts.set(host, site);
      if (JSON.stringify(before.get(id)) !== JSON.stringify(site)) send({ event: 'site', data: site });
    }
  }

  const send = (event: SitesFeedEvent): void => {
    for (const listener of connections) listener(event);
  };

  async function follow(): Promise<void> {
    const unseen = new Set(known.keys());
    for await (const each of store.watch('>', stopping)) {
      if (each.kind === 'caught-up') {
        for (const key of unseen) change(key, []);
        unseen.clear();
        isKnown?.resolve();
        continue;
      }
      unseen.delete(each.key);
      if (each.kind === 'put') {
        change(each.key, servedSites(base, each.document.state));
        for (const key of [each.key, anyOf(organizationIn(each.key))])
          for (const listener of listeners.get(key) ?? []) listener(each.document);
      }
      if (each.kind === 'removed') change(each.key, []);
      if (each.kind === 'unreadable') logger.error({ key: each.key }, `a site cannot be read: ${each.problem}`);
    }
  }

  /** Resolves once all sites are known. */
  async function ready(): Promise<void> {
    if (isKnown === undefined) {
      isKnown = Promise.withResolvers<void>();
      void keepFollowing(
        follow,
        (error) => {
          if (!stopping.aborted) logger.warn({ err: error }, 'the watch of sites ended; it begins again');
        },
        stopping,
      );
    }
    await withDeadline(
      isKnown.promise,
      knownWithinMs,
      () => new ApiError('unavailable', undefined, { retryAfterSeconds: 2 }),
    );
  }

  const onChange: SitesFeed['onChange'] = (key, listener) => {
    // Listeners are not called while the sites are unknown. Callers also read the site at intervals.
    void ready().catch(() => {});
    const ofKey = listeners.get(key) ?? new Set();
    listeners.set(key, ofKey.add(listener));
    return () => {
      ofKey.delete(listener);
      if (ofKey.size === 0 && listeners.get(key) === ofKey) listeners.delete(key);
    };
  };

  return {
    async *events(signal) {
      await ready();
      const waiting: SitesFeedEvent[] = [...known.values()].flatMap((sites) =>
        [...sites.values()].map((data) => ({ event: 'site' as const, data })),
      );
      waiting.push({ event: 'whole', data: {} });
      const mostWaiting = waiting.length + mostBehind;
      const changes = changeWait(signal);
      const listener = (event: SitesFeedEvent): void => {
        waiting.push(event);
        changes.tell();
      };
      connections.add(listener);
      try {
        while (!signal.aborted && waiting.length <= mostWaiting) {
          const next = waiting.shift();
          if (next !== undefined) yield next;
          else if (!(await changes.wait())) yield 'quiet';
        }
      } finally {
        connections.delete(listener);
        changes.close();
      }
    },
    async siteOfHost(host) {
      await ready();
      return hosts.get(host);
    },
    async liveSite(organization, domain) {
      await ready();
      return known.get(siteKey(organization, domain))?.get(`${organization}/${domain}`);
    },
    async liveSitesNamed(name) {
      await ready();
      const ofHost = hosts.get(name);
      if (ofHost !== undefined) return ofHost.label === undefined ? [ofHost] : [];
      const ofDomain = [...known.values()].flatMap((sites) => [...sites.values()]);
      return ofDomain.filter(({ domain, label }) => domain === name && label === undefined);
    },
    onChange,
    onChangeOfAny: (organization, listener) => onChange(anyOf(organization), listener),
  };
}

/** The key of all sites of an organization, whose form no site's key has. */
const anyOf = (organization: string): string => `${organization}.>`;
