import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { visitExample } from './ask-host.ts';

/** Readers of sites of example bundles, in a process of their own. Each visit is a page with its three files: four requests. */
type SiteLoadOptions = {
  url: string;
  /** Host names, in turns. */
  names: readonly string[];
  /** Readers with a connection each. */
  readers: number;
  /** Visits a second of all readers together; without it, each begins the next visit at once. */
  visitsPerSecond?: number;
};

export type SiteLoad = {
  visits: number;
  requests: number;
  seconds: number;
  /** Number of versions that were seen. */
  versions: number;
  /** Number of visits with a request that failed or was not answered with 200. */
  failed: number;
  /** Number of visits with a file of another version than the page, or with bytes that do not match the digest in the address. */
  mixed: number;
  problems: string[];
};

const mostProblems = 10;

/** Begins a load. `stop` ends it and returns what the readers saw. */
export function startSiteLoad(options: SiteLoadOptions): {
  /** Resolves when there are this many visits. */
  visited(count: number): Promise<void>;
  stop(): Promise<SiteLoad>;
} {
  const child = fork(import.meta.filename, { env: { ...process.env, SITE_LOAD: JSON.stringify(options) } });
  const seen = { visits: 0 };
  child.on('message', ({ visits }: { visits: number }) => (seen.visits = visits));
  return {
    async visited(count) {
      while (seen.visits < count) await once(child, 'message');
    },
    async stop() {
      child.removeAllListeners('message');
      child.send('stop');
      for (;;) {
        const [message] = (await once(child, 'message')) as [{ load?: SiteLoad }];
        if (message.load !== undefined) return message.load;
      }
    },
  };
}

async function load({ url, names, readers, visitsPerSecond }: SiteLoadOptions): Promise<void> {
  const over = new AbortController();
  process.on('message', () => over.abort());
  const found: SiteLoad = { visits: 0, requests: 0, seconds: 0, versions: 0, failed: 0, mixed: 0, problems: [] };
  const versions = new Set<string>();
  const startedAt = performance.now();
  let next = 0;
  const problem = (said: readonly string[]) => {
    if (found.problems.length < mostProblems) found.problems.push(...said);
  };
  const read = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!over.signal.aborted) {
      const at = next++;
      const dueMs = visitsPerSecond === undefined ? 0 : startedAt + (at / visitsPerSecond) * 1_000 - performance.now();
      if (dueMs > 0) await delay(dueMs);
      try {
        const visit = await visitExample(url, names[at % names.length] ?? '', agent);
        versions.add(visit.version);
        found.requests += visit.requests;
        if (visit.failed.length > 0) found.failed += 1;
        if (visit.mixed.length > 0) found.mixed += 1;
        problem([...visit.failed, ...visit.mixed]);
      } catch (error) {
        found.failed += 1;
        problem([String(error)]);
      }
      found.visits += 1;
      if (found.visits % 50 === 0) process.send?.({ visits: found.visits });
    }
    agent.destroy();
  };
  await Promise.all(Array.from({ length: readers }, read));
  found.seconds = (performance.now() - startedAt) / 1_000;
  found.versions = versions.size;
  process.send?.({ load: found }, () => process.exit(0));
}

if (process.env.SITE_LOAD !== undefined) void load(JSON.parse(process.env.SITE_LOAD) as SiteLoadOptions);
