import { blobKey, bundleKey, planKey, segmentKey, siteModelKey } from '#shared/contracts/stored-objects.ts';
import { contentLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import type { HousekeeperContext } from './context.ts';
import type { KeptJob } from './kept-jobs.ts';

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

/**
 * The kinds of objects that are removed when nobody needs them: first parts of their keys, in the order in which they are swept. What
 * names others goes before them, so that a sweep that is stopped leaves nothing that names what is gone.
 */
export const sweptKinds = ['plans', 'selections', 'bundles', 'segments', 'contents', 'blobs'] as const;

export type SweptKind = (typeof sweptKinds)[number];

/** What is needed of one organization's objects. Marks are only ever added. */
export type Marks = {
  /** Keys of objects, and of what is kept whole: a segment with its sidecar, the folder of a content version. */
  units: Set<string>;
  /** A site model that is needed could not be read, so any file may be needed. */
  allBlobs: boolean;
};

export const noMarks = (): Marks => ({ units: new Set(), allBlobs: false });

export function isMarked(marks: Marks, key: string): boolean {
  return marks.units.has(unitOf(key)) || (marks.allBlobs && key.startsWith('blobs/'));
}

/** All but what is named in the plan and in the site model. */
export function markJob({ units }: Marks, organization: string, job: KeptJob): void {
  units.add(contentUnit(organization, job.domain, job.contentVersion));
  if (job.selectionKey !== undefined) units.add(job.selectionKey);
  if (job.planHash === undefined) return;
  units.add(planKey(organization, job.planHash));
  // Also before the bundler has stored it: the same plan may have a bundle already.
  units.add(bundleKey(organization, job.domain, job.planHash));
}

/** The segments of a plan, given as its text. */
export function markSegments({ units }: Marks, organization: string, plan: string): void {
  for (const hash of hashesIn(plan)) units.add(segmentKey(organization, hash));
}

/** The files of a content version, given as the text of its site model. */
export function markBlobs({ units }: Marks, organization: string, siteModel: string): void {
  for (const hash of hashesIn(siteModel)) units.add(blobKey(organization, hash));
}

export const contentUnit = (organization: string, domain: string, contentVersion: string): string =>
  unitOf(siteModelKey(organization, domain, contentVersion));

function unitOf(key: string): string {
  if (key.startsWith('segments/')) return key.replace(/\.json$/, '');
  if (key.startsWith('contents/')) return key.split('/', 4).join('/');
  return key;
}

/** Whatever looks like a hash counts, so that forms which this version does not know yet keep what they name. */
function* hashesIn(json: string): Generator<string> {
  for (const [, hash] of json.matchAll(/"([0-9a-f]{64})"/g)) if (hash !== undefined) yield hash;
}
