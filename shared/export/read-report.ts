import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import { diagnosticSchema } from '#shared/contracts/diagnostic.ts';
import { exportPlanSchema, planKey, type SegmentDigest, segmentKey } from '#shared/contracts/stored-objects.ts';
import { jsonIn, sha256Of } from '#shared/runtime/canonical-json.ts';
import { DamagedObject, type ObjectStore } from '#shared/storage/object-store.ts';
import { BrokenObject, getJson } from '#shared/storage/stored-json.ts';
import { ArchiveRefused } from './bundle/archive-names.ts';
import { joinSegments, SegmentDamaged } from './bundle/join-segments.ts';
import { type ArchiveBudgets, readArchive } from './bundle/read-archive.ts';
import { authorReportPath, manifestPath } from './bundle/verify-bundle.ts';
import { readSegmentDigest } from './export-objects.ts';

const count = z.int().min(0);

const brokenLinkSchema = z.object({
  page: z.string(),
  line: z.int().min(1).optional(),
  column: z.int().min(1).optional(),
  place: z.string().optional(),
  target: z.string(),
  reason: z.enum(['no such page or file', 'no such anchor']),
  leadsTo: z.string().optional(),
  nearest: z.string().optional(),
});

/** The fields of the report in a bundle (`_bindery/report.json`, made by `exportReport`) that are read here. */
const storedReportSchema = z.object({
  formatVersion: z.literal(1),
  summary: z.object({
    pages: count,
    failedPages: count,
    errors: count,
    warnings: count,
    infos: count,
    brokenLinks: count,
    notListed: count.optional(),
  }),
  byCode: z.array(
    z.object({
      code: z.string(),
      severity: diagnosticSchema.shape.severity,
      count,
      files: count,
      example: z.string(),
    }),
  ),
  failedPages: z.array(z.object({ path: z.string(), reason: z.string() })),
  brokenLinks: z.array(brokenLinkSchema),
  site: z.array(diagnosticSchema),
  pages: z.record(z.string(), z.array(diagnosticSchema)),
});

export type StoredReport = z.infer<typeof storedReportSchema>;

/** The report exists, but is too large for a service. Its bundle has it. */
export class ReportTooLarge extends Error {
  override name = 'ReportTooLarge';
}

/** Bindery made the bundle, so only sizes that no bundle reaches are refused. */
const budgets: ArchiveBudgets = { packedBytes: 1e11, unpackedBytes: 1e12, entries: 5_000_000, ratio: Infinity };
/** Limit of the report's bytes. Lists of 20,000 diagnostics and 20,000 broken links have some 16 MB. */
const mostReportBytes = 48 * 1024 * 1024;

/** The only field of a plan that is needed, so that plans of other versions can be read. */
const closingPlanSchema = exportPlanSchema.pick({ closingKey: true });

/** The fields of a job's state about its bundle. */
type ReportedJob = {
  organization: string;
  planHash?: string | undefined;
  manifestSha256?: string | undefined;
  bundle?: { key: string } | undefined;
};

/**
 * The report of a completed export: from its closing segment, which is a part of its bundle, or from the whole bundle once that segment is gone. The
 * manifest proves that the report belongs to the job. `sizeBytes`: of its JSON. Undefined if the bundle has been removed. Rejects with
 * `ReportTooLarge`, `DamagedObject` if the bundle is not the job's, and `ObjectStoreUnavailable`.
 */
export async function readReport(
  objectStore: ObjectStore,
  { organization, planHash, manifestSha256, bundle }: ReportedJob,
  signal: AbortSignal,
): Promise<{ report: StoredReport; sizeBytes: number } | undefined> {
  if (bundle === undefined || manifestSha256 === undefined) return undefined;
  if ((await objectStore.head(bundle.key, { signal })) === undefined) return undefined;
  const closing =
    planHash === undefined ? undefined : await closingSegment(objectStore, organization, planHash, signal);
  const near = closing && (await reportIn(closing, manifestSha256).catch(unlessUnusable));
  if (near !== undefined) return near;
  const whole = await objectStore.getStream(bundle.key, { signal });
  if (whole === undefined) return undefined;
  const found = await reportIn(whole, manifestSha256).catch((error: unknown) => {
    if (!(error instanceof ArchiveRefused)) throw error;
    throw new DamagedObject(`the bundle ${bundle.key} cannot be read: ${error.message}`, { cause: error });
  });
  if (found === undefined) throw new DamagedObject(`the bundle ${bundle.key} has no report that its export made`);
  return found;
}

/**
 * Numbers of findings in the report of an export, from the sidecar of its closing segment, without the report. Undefined if the sidecar is gone, or an
 * earlier version wrote it.
 */
export async function readFindings(
  objectStore: ObjectStore,
  { organization, planHash }: Pick<ReportedJob, 'organization' | 'planHash'>,
  signal: AbortSignal,
): Promise<SegmentDigest['findings']> {
  if (planHash === undefined) return undefined;
  return (await closingDigest(objectStore, organization, planHash, signal))?.digest.findings;
}

/** The closing segment as a bundle of its own; undefined if it can no longer be read. */
async function closingSegment(
  objectStore: ObjectStore,
  organization: string,
  planHash: string,
  signal: AbortSignal,
): Promise<Readable | undefined> {
  const found = await closingDigest(objectStore, organization, planHash, signal);
  if (found === undefined) return undefined;
  const { closingKey, digest } = found;
  const key = segmentKey(organization, closingKey);
  return joinSegments([{ ...digest, key, open: () => objectStore.getStream(key, { signal }) }]);
}

async function closingDigest(objectStore: ObjectStore, organization: string, planHash: string, signal: AbortSignal) {
  const plan = await getJson(objectStore, planKey(organization, planHash), closingPlanSchema, { signal }).catch(
    unlessBroken,
  );
  const digest = plan && (await readSegmentDigest(objectStore, organization, plan.closingKey));
  return plan === undefined || digest === undefined ? undefined : { closingKey: plan.closingKey, digest };
}

/** The report of an archive, if its manifest has the given digest; undefined otherwise. */
async function reportIn(
  packed: Readable,
  manifestSha256: string,
): Promise<{ report: StoredReport; sizeBytes: number } | undefined> {
  let bytes: Buffer | undefined;
  for await (const { path, size, body } of readArchive(packed, budgets)) {
    const name = path.slice(path.indexOf('/') + 1);
    if (name === authorReportPath) {
      if (size > mostReportBytes) throw new ReportTooLarge(`the report has ${size} bytes`);
      bytes = await buffer(body);
    } else if (name === manifestPath) {
      if (bytes === undefined || !(await isProof(body, manifestSha256, sha256Of(bytes)))) return undefined;
      const report = storedReportSchema.safeParse(jsonIn(bytes.toString('utf8')));
      return report.success ? { report: report.data, sizeBytes: bytes.length } : undefined;
    }
  }
  return undefined;
}

/** True if the manifest has the expected digest, and lists a file with the digest `listed`. Manifests may have a hundred megabytes. */
async function isProof(manifest: Readable, sha256: string, listed: string): Promise<boolean> {
  const digest = createHash('sha256');
  let isListed = false;
  let before = '';
  for await (const piece of manifest as AsyncIterable<Buffer>) {
    digest.update(piece);
    const text = before + piece.toString('latin1');
    isListed ||= text.includes(`"${listed}"`);
    before = text.slice(-listed.length - 1);
  }
  return isListed && digest.digest('hex') === sha256;
}

/** A closing segment that is missing, damaged or of another export is no error, because the bundle has the same report. */
function unlessUnusable(error: unknown): undefined {
  const isUnusable =
    error instanceof SegmentDamaged || error instanceof ArchiveRefused || error instanceof DamagedObject;
  if (!isUnusable) throw error;
}

function unlessBroken(error: unknown): undefined {
  if (!(error instanceof BrokenObject)) throw error;
}
