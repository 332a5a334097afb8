import { mkdir, readdir, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { ServedLogin, ServedSite } from '#shared/interfaces/http/sites.ts';
import { loginHostOf, originOf, type SitesBase } from '#shared/interfaces/http/sites-base.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import type { HostedSite, HostedSites, NoSite } from './host-app.ts';
import { type PlatformSite, platformSite, readSiteRecord, type SitesTools } from './platform-site.ts';
import { forwardedHosts, requestedHost } from './requested-host.ts';
import type { SiteCounts } from './site-counts.ts';
import type { FeedReader } from './sites-feed.ts';

/** Time for which the folder of a site that left the feed stays, because the site may return with all its versions. */
const keptGoneMs = 10 * 60_000;
const openedAtOnce = 16;

const noSuchSite: NoSite = {
  status: 404,
  sentence: 'There is no site at this address, or nothing has been published to it yet.',
};

/** The answer at the base itself, which has no site. */
const baseAnswer = (base: SitesBase): NoSite => ({
  status: 404,
  sentence: `Each site has an address of its own: its name before this one, such as ${originOf(base, `acme.${base.host}`)}`,
});

const folderName = (site: string): string => sha256Of(site).slice(0, 32);

/**
 * All sites and previews of a platform that this host serves, by host name. Those in `root`, one folder for each, are served at once; the feed, read by
 * `reader`, then adds, changes and ends them.
 */
export async function openPlatformSites(
  root: string,
  tools: SitesTools,
  {
    trustProxy,
    counts,
    base,
    goneMs = keptGoneMs,
  }: {
    trustProxy: readonly string[];
    counts: SiteCounts;
    /** The address under which sites are served; one of its names is where readers of all sites return from the provider. */
    base?: SitesBase | undefined;
    goneMs?: number | undefined;
  },
) {
  const { lists, logger } = tools;
  const sites = new Map<string, PlatformSite>();
  /** The sites that claim a host name, in the order of their claims; the last claim wins. */
  const claims = new Map<string, PlatformSite[]>();
  const claimed = new Map<PlatformSite, readonly string[]>();
  const loginHost = base && loginHostOf(base);
  const atBase = base && baseAnswer(base);
  const forwardedHost = forwardedHosts(trustProxy);
  let wasWhole = false;

  function release(site: PlatformSite): void {
    for (const host of claimed.get(site) ?? []) {
      const others = (claims.get(host) ?? []).filter((each) => each !== site);
      if (others.length === 0) claims.delete(host);
      else claims.set(host, others);
    }
    claimed.delete(site);
  }

  /** Changes the host names of a site. Names that it had before keep their place among other claims. */
  function claim(site: PlatformSite, hosts: readonly string[]): void {
    const before = claimed.get(site) ?? [];
    if (hosts.join() === before.join()) return;
    const lost = before.filter((host) => !hosts.includes(host));
    claimed.set(site, lost);
    release(site);
    for (const host of hosts) if (!before.includes(host)) claims.set(host, [...(claims.get(host) ?? []), site]);
    claimed.set(site, hosts);
  }

  function end(site: PlatformSite): void {
    release(site);
    site.end();
  }

  const reader: FeedReader = {
    onSite(named: ServedSite, namesLogins: boolean): void {
      const known = sites.get(named.site);
      const login = known?.record().served.login;
      // A gateway of an older version does not report logins, so it must not open a site that another gateway has closed.
      const served = namesLogins || login === undefined ? named : { ...named, login };
      if (known === undefined) {
        const record = { formatVersion: 1, served, claimedAt: Date.now() } as const;
        const site = platformSite(join(root, folderName(served.site)), record, tools);
        sites.set(served.site, site);
        claim(site, served.hosts);
        site.begin(wasWhole);
      } else {
        known.apply(served, wasWhole);
        claim(known, served.hosts);
      }
    },
    onRefused(name: string, login: ServedLogin): void {
      sites.get(name)?.close(login);
    },
    onGone(name: string): void {
      const site = sites.get(name);
      if (site === undefined || site.record().goneAt !== undefined) return;
      logger.info({ site: name }, 'a site is no longer served');
      end(site);
    },
    onWhole(named: ReadonlySet<string>): void {
      for (const name of sites.keys()) if (!named.has(name)) reader.onGone(name);
      if (!wasWhole)
        removeUnknown().catch((error: unknown) => logger.warn(`folders cannot be removed: ${messageOf(error)}`));
      wasWhole = true;
    },
  };

  /** Removes folders without a record, which belong to no site. */
  async function removeUnknown(): Promise<void> {
    const names = await readdir(root);
    const known = new Set([...sites.keys()].map(folderName));
    for (const name of names) if (!known.has(name)) await rm(join(root, name), { recursive: true, force: true });
  }

  async function remove(name: string, site: PlatformSite): Promise<void> {
    const away = await site.moveAway();
    if (away === undefined) return;
    sites.delete(name);
    await rm(away, { recursive: true, force: true });
  }

  async function openStored(): Promise<void> {
    await mkdir(root, { recursive: true });
    const found = await inParallel(await readdir(root), openedAtOnce, async (name) => {
      const folder = join(root, name);
      const record = await readSiteRecord(folder);
      if (record === undefined || folderName(record.served.site) !== name) return [];
      const site = platformSite(folder, record, tools);
      if (record.goneAt === undefined)
        await site
          .open()
          .catch((error: unknown) => logger.error(`the folder of a site cannot be opened: ${messageOf(error)}`));
      return [{ site, record }];
    });
    for (const { site, record } of found.flat().sort((a, b) => a.record.claimedAt - b.record.claimedAt)) {
      sites.set(record.served.site, site);
      if (record.goneAt === undefined) claim(site, record.served.hosts);
    }
  }

  const live = (): PlatformSite[] => [...sites.values()].filter((site) => site.record().goneAt === undefined);

  await openStored();

  const hosted = {
    lists,
    areNamed: true,
    platform: tools.platform,
    counts,
    at(request: IncomingMessage): HostedSite | NoSite | 'login' {
      const host = requestedHost(request, forwardedHost(request));
      if ('status' in host) return host;
      request.url = host.target;
      if (host.name === loginHost) return 'login';
      return hosted.named(host.name) ?? (host.name === base?.host ? atBase : undefined) ?? noSuchSite;
    },
    nameOf(request: IncomingMessage): string | undefined {
      const host = requestedHost(request, forwardedHost(request));
      return 'status' in host ? undefined : host.name;
    },
    named: (host: string): HostedSite | undefined => claims.get(host)?.at(-1)?.hosted,
  } satisfies HostedSites;

  return {
    hosted,
    reader,
    /** Reads the list of each site once, so that a damaged list, or one of another program, is replaced before a reader waits for it. */
    async checkAll(): Promise<void> {
      for (const site of live()) {
        if (tools.signal.aborted) return;
        await site.check();
      }
    },
    /** Removes versions and sites that are no longer needed. */
    async sweep(now: number = Date.now()): Promise<void> {
      for (const [name, site] of sites) {
        const { goneAt } = site.record();
        if (goneAt === undefined) await site.sweep();
        else if (now - goneAt >= goneMs) await remove(name, site);
      }
    },
    /** True once each site serves a version, or its deployment has failed. */
    areTried: (): boolean =>
      live().every((site) => site.hosted.versions.active() !== undefined || site.problem() !== undefined),
    counts() {
      const all = live();
      const served = all.filter((site) => site.hosted.versions.active() !== undefined);
      return { sites: all.length, served: served.length };
    },
    /** The sites that do not serve their newest deployment, each with the reason. */
    problems: (): { site: string; problem: string }[] =>
      live().flatMap((site) => {
        const problem = site.problem();
        return problem === undefined ? [] : [{ site: site.record().served.site, problem }];
      }),
    saved: async (): Promise<void> => {
      await Promise.all([...sites.values()].map((site) => site.saved()));
    },
  };
}
