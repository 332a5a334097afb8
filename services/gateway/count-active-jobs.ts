import { jobListKey } from '#shared/contracts/read-model-keys.ts';
import { askBus } from './ask-bus.ts';
import type { GatewayContext } from './context.ts';

/** No job lives longer than an hour; a little more for a list that lags. */
const longestJobMs = 65 * 60_000;

/** How many of an organization's jobs are queued or running, as far as the read model knows. */
export async function countActiveJobs(
  { bus, clock }: Pick<GatewayContext, 'bus' | 'clock'>,
  organization: string,
): Promise<number> {
  const now = clock.now();
  const oldest = new Date(now.getTime() - longestJobMs).toISOString();
  const days = new Set([jobListKey(organization, oldest), jobListKey(organization, now.toISOString())]);
  const lists = await Promise.all([...days].map((key) => askBus(bus.documents.jobList.get(key))));
  return lists
    .flatMap((stored) => stored?.document.jobs ?? [])
    .filter((job) => (job.status === 'queued' || job.status === 'running') && job.createdAt > oldest).length;
}
