import { exportJobAggregate } from '#shared/aggregates/export-job/export-job.ts';
import { type BundleReport, verifyBundle } from '#shared/export/bundle/verify-bundle.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import { DamagedObject, type ObjectStore } from '#shared/storage/object-store.ts';
import type { ChainProblem } from '#shared/messaging/log/commit-chain.ts';
import type { StoredText } from '#shared/messaging/log/event-log.ts';

/** Numbers of bundles that were read whole, and of those that were gone. A bundle of several exports counts once. */
export type BundleCounts = { checked: number; gone: number };

const mostNamed = 3;

/**
 * Compares stored bundles with the histories that name them: size, SHA-256, SHA-256 of the manifest, and each file with the manifest. A
 * bundle that many exports share is read once. Bundles of exports that ended before `keptSince` may have been removed.
 */
export function bundleCheck(objectStore: Pick<ObjectStore, 'getStream'>, { keptSince }: { keptSince: Date }) {
  const counts: BundleCounts = { checked: 0, gone: 0 };
  const reports = new Map<string, Promise<BundleReport | undefined>>();
  const read = async (key: string): Promise<BundleReport | undefined> => {
    try {
      const stored = await objectStore.getStream(key);
      if (stored === undefined) return undefined;
      counts.checked += 1;
      return await verifyBundle(stored);
    } catch (error) {
      // A damaged object is reported like any other damage, and the audit continues.
      if (!(error instanceof DamagedObject)) throw error;
      return {
        files: 0,
        sizeBytes: 0,
        sha256: undefined,
        manifestSha256: undefined,
        findings: undefined,
        problems: [error.message],
      };
    }
  };
  const reportOf = (key: string): Promise<BundleReport | undefined> => {
    const known = reports.get(key) ?? read(key);
    reports.set(key, known);
    return known;
  };
  return {
    counts,
    /** Problems with the bundle of an export, given the last message of its history. */
    async verify(last: StoredText): Promise<ChainProblem[]> {
      const commit = commitOf(last);
      const { bundle, manifestSha256, completedAt } = commit?.data.state ?? {};
      if (commit === undefined || bundle === undefined) return [];
      const { subject, sequence } = last;
      const problem = (message: string): ChainProblem => ({
        problem: 'bundle',
        subject,
        sequence,
        revision: commit.revision,
        message: `The stored bundle ${bundle.key} ${message}.`,
      });
      const report = await reportOf(bundle.key);
      if (report === undefined) {
        if (completedAt === undefined || Date.parse(completedAt) >= keptSince.getTime()) return [problem('is missing')];
        counts.gone += 1;
        return [];
      }
      const problems: string[] = [];
      if (report.sizeBytes !== bundle.sizeBytes && report.sha256 !== undefined) {
        problems.push(`has ${report.sizeBytes} bytes instead of ${bundle.sizeBytes}`);
      }
      if (report.sha256 !== bundle.sha256) problems.push('does not match its SHA-256 in the history');
      if (report.manifestSha256 !== undefined && report.manifestSha256 !== manifestSha256) {
        problems.push('has a manifest that does not match its SHA-256 in the history');
      }
      problems.push(...report.problems.slice(0, mostNamed).map((text) => `is damaged: ${text}`));
      return problems.map(problem);
    },
  };
}

/** Parses a message. Undefined when it is not a commit, which `verifyChain` reports. */
const commitOf = ({ text }: StoredText) => exportJobAggregate.storedCommit.safeParse(jsonIn(text)).data;
