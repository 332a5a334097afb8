/** Work for one site. A site has one entry at most, so its deployments run one after the other. */
export type QueuedSite = {
  site: string;
  organization: string;
  /** True for a large bundle, which takes long. */
  isLarge: boolean;
  /** Runs the deployment. Must not reject. */
  run(): Promise<void>;
};

/**
 * Limits of concurrent deployments. Large bundles have a place of their own, so that small ones never wait for them. One organization never holds all
 * places for small ones, so that others need not wait for it.
 */
export const placesOfDeployments = { small: 3, large: 1 } as const;

/**
 * Runs deployments concurrently, one in each place. Next is a deployment of the organization with the fewest running ones; among equal ones, of the
 * organization that was served least recently; then the deployment that waited longest. So an organization with a thousand waiting sites does not
 * delay small deployments of others, and delays a large one by one deployment at most.
 */
export function deploymentQueue(places: { small: number; large: number } = placesOfDeployments) {
  const waiting = new Map<string, QueuedSite>();
  const running = new Map<string, QueuedSite>();
  /** Sites that were added again while their deployment runs. */
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
