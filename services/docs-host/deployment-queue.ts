/** Work for one site. A site has one entry at most, so its deployments follow each other. */
export type QueuedSite = {
  site: string;
  organization: string;
  /** True for a bundle that takes long. */
  isLarge: boolean;
  /** Must not reject. */
  run(): Promise<void>;
};

/**
 * Numbers of deployments that run at once. Large bundles have a place of their own, so that small ones never wait for them. One organization never has all
 * places of small ones, so that another one need not wait until a deployment of the first ends.
 */
export const placesOfDeployments = { small: 3, large: 1 } as const;

/**
 * Runs deployments with at most as many at once as there are places. The next one is that of the organization with the fewest running ones, then of the one
 * that was served least recently, then the one that waited longest: so an organization with a thousand waiting sites delays no small deployment of another one,
 * and a large one by one deployment.
 */
export function deploymentQueue(places: { small: number; large: number } = placesOfDeployments) {
  const waiting = new Map<string, QueuedSite>();
  const running = new Map<string, QueuedSite>();
  /** Sites that asked again while their deployment runs. */
  const again = new Map<string, QueuedSite>();
  const servedAt = new Map<string, number>();
  let turn = 0;

  const isFree = (isLarge: boolean): boolean => {
    const taken = [...running.values()].filter((each) => each.isLarge === isLarge).length;
    return taken < (isLarge ? places.large : places.small);
  };

  function next(): QueuedSite | undefined {
    const free = { true: isFree(true), false: isFree(false) };
    const runningOf = new Map<string, number>();
    const smallOf = new Map<string, number>();
    for (const { organization, isLarge } of running.values()) {
      runningOf.set(organization, (runningOf.get(organization) ?? 0) + 1);
      if (!isLarge) smallOf.set(organization, (smallOf.get(organization) ?? 0) + 1);
    }
    let best: { entry: QueuedSite; runs: number; at: number } | undefined;
    for (const entry of waiting.values()) {
      if (!free[`${entry.isLarge}`]) continue;
      if (!entry.isLarge && (smallOf.get(entry.organization) ?? 0) >= Math.max(1, places.small - 1)) continue;
      const runs = runningOf.get(entry.organization) ?? 0;
      const at = servedAt.get(entry.organization) ?? 0;
      if (best === undefined || runs < best.runs || (runs === best.runs && at < best.at)) best = { entry, runs, at };
    }
    return best?.entry;
  }

  function start(): void {
    for (let entry = next(); entry !== undefined; entry = next()) {
      const { site, organization } = entry;
      waiting.delete(site);
      running.set(site, entry);
      turn += 1;
      servedAt.set(organization, turn);
      void entry.run().finally(() => ended(site));
    }
    if (waiting.size === 0 && running.size === 0) servedAt.clear();
  }

  function ended(site: string): void {
    running.delete(site);
    const repeated = again.get(site);
    again.delete(site);
    if (repeated !== undefined) waiting.set(site, repeated);
    start();
  }

  return {
    /** Adds a site, or replaces its waiting entry. A site that runs is run once more afterwards. */
    add(entry: QueuedSite): void {
      const { site } = entry;
      if (running.has(site)) again.set(site, entry);
      else {
        waiting.set(site, entry);
        start();
      }
    },
    remove(site: string): void {
      waiting.delete(site);
      again.delete(site);
    },
    isRunning: (site: string): boolean => running.has(site),
    counts: () => ({ waiting: waiting.size + again.size, running: running.size }),
  };
}

export type DeploymentQueue = ReturnType<typeof deploymentQueue>;
