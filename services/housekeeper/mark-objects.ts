import type { ContentId } from '#shared/contracts/identifiers.ts';
import {
  blobKey,
  bundleKey,
  bundlePrefix,
  planKey,
  segmentKey,
  siteModelKey,
  blobPrefix,
  contentPrefix,
  exportPlanSchema,
  hashesIn,
  partPrefix,
  partTextsKey,
  versionFilesKey,
  segmentPrefix,
} from '#shared/contracts/stored-objects.ts';
import { keptPartKeys } from '#shared/export/kept-parts.ts';
import { contentLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import { unlessDamaged } from '#shared/storage/object-store.ts';
import type { HousekeeperContext } from './context.ts';
import type { KeptJob } from './kept-jobs.ts';

/**
 * Marks the objects that are needed by the kept jobs and by the content versions in the log. Jobs that were marked before are read again only if they
 * have changed since, so marking again costs only the changes. Plans and site models that are marked already are not read again, because their keys
 * are hashes of their contents.
 */
export async function markOrganization(
  context: HousekeeperContext,
  organization: string,
  endedSince: Date,
  marks: Marks,
  signal: AbortSignal,
): Promise<void> {
  for (const subject of await context.bus.content.subjects(contentLogSubject(organization, '*'))) {
    const last = await context.bus.content.last(subject, { fromLeader: true });
    const { versions, domain } = last?.commit.data.state ?? { versions: [], domain: '' };
    for (const { contentVersion } of versions) {
      const content = { organization, domain, contentVersion };
      if (marks.units.has(contentUnit(content))) continue;
      marks.units.add(contentUnit(content));
      if (await markContent(context, content, marks, signal)) continue;
      context.logger.warn(content, 'the site model is missing: no files are removed');
      marks.allBlobs = true;
    }
  }
  // The sequence is taken before the jobs are read: later changes are read next time.
  const upTo = await context.bus.exports.newestSequence();
  // A log that was restored from a copy continues at lower sequences: then all jobs are read.
  const after = (marks.jobsUpTo ?? Infinity) <= upTo ? marks.jobsUpTo : undefined;
  for await (const job of context.keptJobs(organization, endedSince, signal, after)) {
    const { planHash } = job;
    const content = { organization, domain: job.domain, contentVersion: job.contentVersion };
    const isNewPlan = planHash !== undefined && !marks.units.has(planKey(organization, planHash));
    const isNewContent = !marks.units.has(contentUnit(content));
    markJob(marks, organization, job);
    if (isNewPlan) await markPlan(context, organization, planHash, marks, signal);
    // If the content ended and its objects are gone, this job needs nothing more.
    if (isNewContent) await markContent(context, content, marks, signal);
  }
  marks.jobsUpTo = upTo;
}

async function markPlan(
  { objectStore }: HousekeeperContext,
  organization: string,
  planHash: string,
  marks: Marks,
  signal: AbortSignal,
): Promise<void> {
  const stored = await objectStore.get(planKey(organization, planHash), { signal });
  if (stored === undefined) return;
  const text = Buffer.from(stored).toString();
  markSegments(marks, organization, text);
  markParts(marks, organization, text);
}

/** False if the site model does not exist. A damaged one does not tell which files it names. */
async function markContent(
  { objectStore, logger }: HousekeeperContext,
  content: ContentId,
  marks: Marks,
  signal: AbortSignal,
): Promise<boolean> {
  const stored = await objectStore.get(siteModelKey(content), { signal });
  if (stored === undefined) return false;
  const text = Buffer.from(stored).toString();
  if (jsonIn(text) !== undefined) {
    markBlobs(marks, content.organization, text);
    // Versions of earlier programs have no list of files. If the list is damaged, the files that only it names may be removed; the next publication sends
    // them again.
    const files = await unlessDamaged(objectStore.get(versionFilesKey(content), { signal }));
    if (files !== undefined) markBlobs(marks, content.organization, Buffer.from(files).toString());
  } else {
    logger.error(content, 'the site model is damaged: no files are removed');
    marks.allBlobs = true;
  }
  return true;
}

/**
 * The kinds of objects that garbage collection removes: first parts of their keys, in the order of sweeping. An object is removed before the objects
 * that it names, so that a sweep that is stopped leaves no dangling names.
 */
export const sweptKinds = ['plans', 'selections', 'bundles', 'parts', 'segments', 'contents', 'blobs'] as const;

export type SweptKind = (typeof sweptKinds)[number];

/** The objects of one organization that are needed. Marks are only ever added. */
export type Marks = {
  /** Keys of objects, and of units of several objects: a segment with its sidecar, the folder of a content version. */
  units: Set<string>;
  /** True if a needed site model could not be read, so that any file may be needed. */
  allBlobs: boolean;
  /** Sequence of the log up to which jobs are marked; absent before the first marking. */
  jobsUpTo?: number;
};

export const noMarks = (): Marks => ({ units: new Set(), allBlobs: false });

export function isMarked(marks: Marks, key: string): boolean {
  return marks.units.has(unitOf(key)) || (marks.allBlobs && key.startsWith(blobPrefix));
}

/** Marks the objects that the job itself names; its plan and its site model name more. */
export function markJob({ units }: Marks, organization: string, job: KeptJob): void {
  units.add(contentUnit({ organization, domain: job.domain, contentVersion: job.contentVersion }));
  if (job.selectionKey !== undefined) units.add(job.selectionKey);
  if (job.planHash === undefined) return;
  units.add(planKey(organization, job.planHash));
  // The bundle is marked even before the job's own bundler is done, because another job with the same plan may have stored it.
  units.add(bundleKey(organization, job.domain, job.planHash));
}

/** Marks the segments of a plan, given as its text. */
export function markSegments({ units }: Marks, organization: string, plan: string): void {
  for (const hash of hashesIn(plan)) units.add(segmentKey(organization, hash));
}

/**
 * Marks the parts that are kept for closing segments of a plan like this one, given as its text. Parts of a plan of an unknown form are not marked;
 * they are made again when they are needed.
 */
export function markParts({ units }: Marks, organization: string, plan: string): void {
  const known = exportPlanSchema.safeParse(jsonIn(plan));
  for (const key of known.success ? keptPartKeys(known.data) : []) units.add(partTextsKey(organization, key));
}

/** Marks the files of a content version, given as the text of its site model or of the list of its files. */
export function markBlobs({ units }: Marks, organization: string, names: string): void {
  for (const hash of hashesIn(names)) units.add(blobKey(organization, hash));
}

const contentUnit = (content: ContentId): string => unitOf(siteModelKey(content));

function unitOf(key: string): string {
  if (key.startsWith(segmentPrefix) || key.startsWith(partPrefix)) return key.replace(/\.(?:json|short)$/, '');
  if (key.startsWith(bundlePrefix)) return key.replace(/\.pieces$/, '');
  if (key.startsWith(contentPrefix)) return key.split('/', 4).join('/');
  return key;
}
