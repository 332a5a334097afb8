import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Installation } from '#infra/supervisor/run-installation.ts';
import { sendSignal } from './send-signal.ts';

export type NatsTaken = { resume(): Promise<void> };

/**
 * Kills the nats-server (SIGKILL) and keeps it from coming back: the supervisor tries, and it ends at once because its settings are gone.
 * `resume` gives them back; the next try of the supervisor, at most 5 s later, starts it.
 */
export async function takeNatsAway(installation: Installation): Promise<NatsTaken> {
  const settings = join(installation.dataFolder, 'nats', 'nats.conf');
  const hidden = `${settings}.hidden`;
  await rename(settings, hidden);
  for (const pid of installation.pids('nats-server')) sendSignal(pid, 'SIGKILL');
  return { resume: () => rename(hidden, settings) };
}
