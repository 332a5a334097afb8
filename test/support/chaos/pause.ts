import { sendSignal } from './send-signal.ts';

export type Paused = { resume(): void };

/**
 * Stops processes in the middle of whatever they do; they keep their memory, connections and place under the supervisor, which sees nothing
 * end and starts nothing again. `pause(installation.pids('nats-server'))` takes the bus away. `resume` wakes them, also a second time.
 */
export function pause(pids: readonly number[]): Paused {
  if (pids.length === 0) throw new Error('There is no process to pause.');
  for (const pid of pids) {
    if (!sendSignal(pid, 'SIGSTOP')) throw new Error(`Process ${pid} cannot be paused: it has ended.`);
  }
  return { resume: () => pids.forEach((pid) => sendSignal(pid, 'SIGCONT')) };
}
