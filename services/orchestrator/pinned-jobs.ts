import { waitsForRenderers } from '#shared/aggregates/export-job/export-job.ts';
import { type ActiveJob, stateOf } from './job-registry.ts';
import type { WorkerPool } from './worker-pool.ts';

/** The jobs that wait for renderers, by the version that their plan is pinned to. */
export type PinnedJobs = {
  /** Called when the job has a new commit, or was just added. */
  changed(job: ActiveJob): void;
  ended(job: ActiveJob): void;
  /**
   * Counts `elapsedMs` for each version that has no live renderer while another has, and returns the jobs of those that reached `goneAfterMs`. They
   * are returned each time until they are pinned to another version.
   */
  stranded(elapsedMs: number, goneAfterMs: number): ActiveJob[];
};

/** Iterates over the few versions, but not over jobs of live versions. */
export function pinnedJobs(renderers: Pick<WorkerPool, 'liveSlots'>): PinnedJobs {
  const versions = new Map<string, { jobs: Set<ActiveJob>; goneMs: number }>();
  const versionOf = new Map<ActiveJob, string>();

  function unpin(job: ActiveJob): void {
    const version = versionOf.get(job);
    if (version === undefined) return;
    versionOf.delete(job);
    const pinned = versions.get(version);
    pinned?.jobs.delete(job);
    if (pinned?.jobs.size === 0) versions.delete(version);
  }

  return {
    changed(job) {
      const { rendererVersion, ...state } = stateOf(job);
      const version = waitsForRenderers(state) ? rendererVersion : undefined;
      if (version === versionOf.get(job)) return;
      unpin(job);
      if (version === undefined) return;
      versionOf.set(job, version);
      const pinned = versions.get(version) ?? { jobs: new Set(), goneMs: 0 };
      versions.set(version, pinned);
      pinned.jobs.add(job);
    },
    ended: unpin,
    stranded(elapsedMs, goneAfterMs) {
      const isAnyAlive = renderers.liveSlots() > 0;
      return [...versions].flatMap(([version, pinned]) => {
        if (renderers.liveSlots(version) > 0) pinned.goneMs = 0;
        else if (isAnyAlive) pinned.goneMs += elapsedMs;
        return pinned.goneMs >= goneAfterMs ? [...pinned.jobs] : [];
      });
    },
  };
}
