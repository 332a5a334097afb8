import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Installation } from '#infra/supervisor/run-installation.ts';
import { downloadBundle } from '#services/cli/download-bundle.ts';
import { type BundleLink, signBundleLink, startExport, waitForExport } from '#services/cli/export-site.ts';
import { verifyBundle } from '#shared/bundle/verify-bundle.ts';
import type { ExportJob } from '#shared/contracts/http/export-job.ts';
import type { ChainProblem } from '#shared/event-log/verify-chain.ts';
import type { CrashOrder } from '#shared/lifecycle/crash-orders.ts';
import { exportPathOnly, startInstallation } from '../start-installation.ts';
import { addOrganization } from './add-organization.ts';
import { giveOrder } from './crash-orders.ts';
import { exportHistory } from './export-history.ts';
import { forgetSegments } from './forget-segments.ts';

/** What is left of an export when it is over; the same whatever died meanwhile. */
export type Outcome = Pick<ExportJob, 'status' | 'pageCount' | 'pageTotal'> & {
  sha256: string;
  /** Of its history. */
  problems: ChainProblem[];
};

export type Disturbance = {
  /** `<crash point>@<service>` */
  place: string;
  /** What the first process does that gets there. */
  order: CrashOrder;
  /** Called while a process that was told to wait stands still there. */
  meanwhile?: () => void | Promise<void>;
};

export type CrashStand = {
  installation: Installation;
  undisturbed: Outcome;
  /** Renders and joins everything anew. `ended`: the supervisor's lines about processes that ended meanwhile. Rejects when nothing reached the place. */
  exportDisturbed(disturbance: Disturbance): Promise<{ outcome: Outcome; ended: string[] }>;
  stop(): Promise<void>;
};

/** Some ten chunks of pages. */
const pageCount = 60;
/** Some places are passed just after the job was seen to be completed. */
const reachedWithinMs = 20_000;

/** One installation for export after export of a small site, each disturbed at another place; and what comes of it undisturbed. */
export async function startCrashStand(): Promise<CrashStand> {
  const orders = await mkdtemp(join(tmpdir(), 'bindery-crash-orders-'));
  const stand = await startInstallation({
    copies: exportPathOnly,
    // A process that dies in export after export shall not be taken for one that cannot run.
    healthyAfterMs: 0,
    environment: { CRASH_ORDERS: orders, BINDERY_LIMIT_STARTS_PER_HOUR: '1000' },
  });
  const { installation } = stand;
  const stop = async () => {
    await stand.stop();
    await rm(orders, { recursive: true, force: true });
  };
  try {
    const { admin, organization, domain } = await addOrganization(stand, 'Crashes', pageCount);
    const exported = async (): Promise<Outcome & { link: BundleLink }> => {
      const { jobId } = await startExport(admin, { domain });
      const job = await waitForExport(admin, jobId, () => {});
      const link = await signBundleLink(admin, jobId);
      const { problems } = await exportHistory({ installation, organization }, jobId);
      return { ...pick(job), sha256: link.sha256, problems, link };
    };
    const { link, ...undisturbed } = await exported();
    await checkBundle(link, join(orders, 'bundle.tar.gz'));

    return {
      installation,
      undisturbed,
      async exportDisturbed({ place, order, meanwhile }) {
        await forgetSegments(stand);
        const newsBefore = stand.news.length;
        const given = await giveOrder(orders, place, order);
        try {
          const disturbed = (async () => {
            await given.taken;
            await meanwhile?.();
            if (order === 'wait') await given.end();
          })();
          disturbed.catch(() => {});
          const { link: _, ...outcome } = await exported();
          await within(reachedWithinMs, disturbed, `Nothing reached ${place}.`);
          if (order === 'die') await stand.whenNews(newsBefore);
          return { outcome, ended: stand.news.slice(newsBefore) };
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

async function checkBundle(link: BundleLink, file: string): Promise<void> {
  await downloadBundle(link, file);
  const { problems } = await verifyBundle(createReadStream(file));
  if (problems.length > 0) throw new Error(`The undisturbed bundle is not whole: ${JSON.stringify(problems)}`);
}

async function within<T>(deadlineMs: number, result: Promise<T>, otherwise: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(otherwise)), deadlineMs);
  });
  return Promise.race([result, late]).finally(() => clearTimeout(timer));
}
