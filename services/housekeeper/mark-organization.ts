import { siteModelKey } from '#shared/contracts/content-keys.ts';
import { planKey } from '#shared/contracts/export-plan.ts';
import { contentLogSubject } from '#shared/subjects/subject-names.ts';
import type { HousekeeperContext } from './context.ts';
import { contentUnit, type Marks, markBlobs, markJob, markSegments } from './marks.ts';

type Parts = Pick<HousekeeperContext, 'bus' | 'objectStore' | 'logger' | 'jobSources'>;

/**
 * Adds what is needed now: by the kept jobs, and by the content versions that the log has. Plans and site models that are marked already
 * are not read again, because their keys are hashes of what they say.
 */
export async function markOrganization(
  parts: Parts,
  organization: string,
  endedSince: Date,
  marks: Marks,
  signal: AbortSignal,
): Promise<void> {
  for (const subject of await parts.bus.content.subjects(contentLogSubject(organization, '*'))) {
    const last = await parts.bus.content.last(subject, { fromLeader: true });
    for (const { contentVersion } of last?.commit.data.state.versions ?? []) {
      const domain = last?.commit.data.state.domain ?? '';
      if (marks.units.has(contentUnit(organization, domain, contentVersion))) continue;
      marks.units.add(contentUnit(organization, domain, contentVersion));
      if (await markContent(parts, organization, domain, contentVersion, marks, signal)) continue;
      parts.logger.warn({ organization, domain, contentVersion }, 'the site model is gone: no files are removed');
      marks.allBlobs = true;
    }
  }
  for (const jobs of parts.jobSources) {
    for await (const job of jobs(organization, endedSince, signal)) {
      const isNewPlan = job.planHash !== undefined && !marks.units.has(planKey(organization, job.planHash));
      const isNewContent = !marks.units.has(contentUnit(organization, job.domain, job.contentVersion));
      markJob(marks, organization, job);
      if (isNewPlan) await markPlan(parts, organization, job.planHash ?? '', marks, signal);
      // Content that the log does not have any more, and whose objects are gone: nothing is left to keep for this job.
      if (isNewContent) await markContent(parts, organization, job.domain, job.contentVersion, marks, signal);
    }
  }
}

async function markPlan(
  { objectStore }: Parts,
  organization: string,
  planHash: string,
  marks: Marks,
  signal: AbortSignal,
): Promise<void> {
  const stored = await objectStore.get(planKey(organization, planHash), { signal });
  if (stored !== undefined) markSegments(marks, organization, Buffer.from(stored).toString());
}

/** False when there is no such site model. */
async function markContent(
  { objectStore }: Parts,
  organization: string,
  domain: string,
  contentVersion: string,
  marks: Marks,
  signal: AbortSignal,
): Promise<boolean> {
  const stored = await objectStore.get(siteModelKey(organization, domain, contentVersion), { signal });
  if (stored === undefined) return false;
  markBlobs(marks, organization, Buffer.from(stored).toString());
  return true;
}
