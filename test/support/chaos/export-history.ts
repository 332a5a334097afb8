import type { ExportCommit } from '#shared/contracts/export-commit.ts';
import type { StoredCommit } from '#shared/event-log/event-log.ts';
import { type ChainProblem, verifyChain } from '#shared/event-log/verify-chain.ts';
import { connectBus } from '#shared/nats/connect-bus.ts';
import { exportLogSubject } from '#shared/subjects/subject-names.ts';
import type { TestInstallation } from '../start-installation.ts';

export type ExportHistory = {
  commits: ExportCommit[];
  /** What is wrong with the chain of hashes and sequences; nothing when the history is whole. */
  problems: ChainProblem[];
};

/** All commits of a job as the bus has them, the oldest first. */
export async function exportHistory(
  { installation, organization }: Pick<TestInstallation, 'installation' | 'organization'>,
  jobId: string,
): Promise<ExportHistory> {
  const bus = await connectBus({
    url: installation.natsUrl,
    service: 'gateway',
    password: installation.secrets.natsPasswords.gateway ?? '',
    instance: 'history-reader',
  });
  try {
    const subject = exportLogSubject(organization, jobId);
    const stored: StoredCommit<ExportCommit>[] = [];
    for await (const one of bus.exports.history(subject)) stored.push(one);
    const problems = verifyChain(subject, await bus.exports.texts(subject));
    return { commits: stored.map(({ commit }) => commit), problems };
  } finally {
    await bus.close();
  }
}
