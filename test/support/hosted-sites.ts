import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect } from 'vitest';
import type { SitesTimes } from '#services/docs-host/serve-platform-sites.ts';
import { askHost } from './ask-host.ts';
import { docsHosts, type TestedHost } from './docs-host.ts';
import { type SitesPlatform, sitesPlatform } from './sites-platform.ts';

/** Times of a host whose tests do not wait for seconds. */
export const quickTimes: SitesTimes = {
  feed: { silentMs: 1_000, retries: { firstPauseMs: 50, longestPauseMs: 200 } },
  retries: {
    unavailable: { firstPauseMs: 50, longestPauseMs: 200 },
    refused: { firstPauseMs: 50, longestPauseMs: 300 },
  },
  sweepMs: 100,
  goneMs: 0,
};

/** Options of `expect.poll` for what a host does next. */
export const waiting = { timeout: 60_000, interval: 20 };

/** Hosts of the sites of a platform, for the tests of one suite. Each test has its own platform and folder. */
export function hostedSites() {
  const { folder, host, atEnd } = docsHosts();
  let platform: SitesPlatform;
  beforeEach(async () => {
    platform = await sitesPlatform();
    atEnd(() => platform.close());
  });
  const sitesFolder = () => join(folder(), 'docs-host/sites');
  return {
    folder,
    atEnd,
    host,
    platform: (): SitesPlatform => platform,
    /** A host of the platform's sites. */
    started: (env: Record<string, string> = {}, times = quickTimes): Promise<TestedHost> =>
      host({ ...platform.env, ...env }, times),
    sitesFolder,
    /** Folder of the only site. */
    siteFolder: async (): Promise<string> => {
      const names = await readdir(sitesFolder());
      expect(names).toHaveLength(1);
      return join(sitesFolder(), names[0] ?? '');
    },
  };
}

/** The version of an example bundle that readers see under a host name. */
export const shownVersion = async ({ url }: { url: string }, name: string): Promise<string | undefined> =>
  /Version (\S+)<\/p>/.exec((await askHost(url, name)).text)?.[1];

export async function expectShown(at: { url: string }, name: string, version: string): Promise<void> {
  await expect.poll(() => shownVersion(at, name), waiting).toBe(version);
}
