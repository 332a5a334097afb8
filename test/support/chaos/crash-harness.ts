import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Installation } from '#infra/supervisor/run-installation.ts';
import { downloadVerified, signBundleLink, startExport, waitForExport } from '#services/cli/export-client.ts';
import type { BundleLink, ExportJob } from '#shared/interfaces/http/exports.ts';
import type { ChainProblem } from '#shared/messaging/log/commit-chain.ts';
import type { CrashOrder } from '#shared/runtime/crash-point.ts';
import { addOrganization, exportHistory, forgetSegments } from '../installation-exports.ts';
import { exportPathOnly, startInstallation } from '../start-installation.ts';
import { withDeadline } from '#shared/runtime/with-deadline.ts';
import { giveOrder } from './crash-orders.ts';

/** The result of an export, which must not depend on the processes that died meanwhile. */
type Outcome = Pick<ExportJob, 'status' | 'pageCount' | 'pageTotal'> & {
  sha256: string;
  /** Problems of its history. */
  problems: ChainProblem[];
};

type Disturbance = {
  /** `<crash point>@<service>` */
  place: string;
  /** Action of the first process that reaches the place. */
  order: CrashOrder;
  /** Called while a process waits at the place. Returns true if it killed a process whose end the supervisor will report. */
  meanwhile?: () => Promise<boolean>;
};

export type CrashHarness = {
  installation: Installation;
  undisturbed: Outcome;
  /** Renders and joins everything again. `ended` has the supervisor's lines about processes that ended meanwhile. Rejects when no process reached the place. */
  exportDisturbed(disturbance: Disturbance): Promise<{ outcome: Outcome; ended: string[] }>;
  stop(): Promise<void>;
};

/** Number of pages, which gives five chunks. */
const pageCount = 100;
/** Time to wait for places that are reached only after the job is completed. */
const reachedWithinMs = 20_000;

/** One installation that exports a small site again and again, each time with a disturbance at another place. */
export async function startCrashHarness(): Promise<CrashHarness> {
  const orders = await mkdtemp(join(tmpdir(), 'bindery-crash-orders-'));
  const harness = await startInstallation({
    copies: exportPathOnly,
    // Each export kills a process, which must not count as one that cannot start.
    healthyAfterMs: 0,
    environment: { CRASH_ORDERS: orders, BINDERY_LIMIT_STARTS_PER_HOUR: '1000' },
  });
  const { installation } = harness;
  const stop = async () => {
    await harness.stop();
    await rm(orders, { recursive: true, force: true });
  };
  try {
    const { admin, organization, domain } = await addOrganization(harness, 'Crashes', pageCount);
    const exported = async (): Promise<Outcome & { link: BundleLink }> => {
      const { jobId } = await startExport(admin, { domain });
      const job = await waitForExport(admin, jobId, () => {});
      const link = await signBundleLink(admin, jobId);
      const { problems } = await exportHistory({ installation, organization }, jobId);
      return { ...pick(job), sha256: link.sha256, problems, link };
    };
    const { link, ...undisturbed } = await exported();
    await downloadVerified(link, join(orders, 'bundle.tar.gz'));

    return {
      installation,
      undisturbed,
      async exportDisturbed({ place, order, meanwhile }) {
        await forgetSegments(harness);
        const newsBefore = harness.news.length;
        const given = await giveOrder(orders, place, order);
        try {
          const disturbed = (async () => {
            await given.taken;
            const isSaid = (await meanwhile?.()) ?? order === 'die';
            if (order === 'wait') await given.end();
            return isSaid;
          })();
          disturbed.catch(() => {});
          const { link: _, ...outcome } = await exported();
          const isSaid = await withDeadline(disturbed, reachedWithinMs, () => new Error(`Nothing reached ${place}.`));
          // An export may end before the supervisor notices the end of the process.
          if (isSaid) await harness.whenNews(newsBefore);
          return { outcome, ended: harness.news.slice(newsBefore) };
        } finally {
          await given.end();
        }
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const pick = ({ status, pageCount: pages, pageTotal }: ExportJob) => ({ status, pageCount: pages, pageTotal });
