import type { KV } from '@nats-io/kv';
import { leaseRoles } from '../subjects/subject-table.ts';
import { whileAway } from './connection.ts';

/** A page waits for the answer. */
const deadlineMs = 1_000;

/** The roles that a process holds now, with its name, in the order of the table. A lease that is not renewed expires within seconds. */
export const natsLeaseHolders = (kv: Pick<KV, 'get'>): { held(): Promise<{ role: string; holder: string }[]> } => ({
  async held() {
    const held = await Promise.all(
      leaseRoles.map(async (role) => {
        const entry = await whileAway(`reading the lease ${role}`, deadlineMs, () => kv.get(role));
        return entry?.operation === 'PUT' ? [{ role, holder: entry.string() }] : [];
      }),
    );
    return held.flat();
  },
});
