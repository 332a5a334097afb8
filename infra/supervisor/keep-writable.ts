import { statfs } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { openServerHealth } from '#shared/messaging/nats/server-health.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { pauseAfter, type RetryPolicy } from '#shared/runtime/retry.ts';
import type { KeptProcess } from './keep-running.ts';

const askEveryMs = 2_000;
const stopGraceMs = 10_000;
/** Free space below which a restarted server would soon refuse writes again. */
const leastRoomBytes = 16 * 1024 * 1024;
const restartAgain: RetryPolicy = { firstPauseMs: 10_000, longestPauseMs: 300_000 };
/** Limit of restarts in a row. Afterwards the fault needs an operator, and each further restart would interrupt everyone. */
const mostRestarts = 5;

type WatchedServer = {
  url: string;
  /** Password of the user "supervisor". */
  password: string;
  /** Folder of the server, on the disk with its streams. */
  folder: string;
  kept: Pick<KeptProcess, 'restart'>;
  /** Gets one line for each change of the state, not for each poll. */
  onNews: (news: string) => void;
};

/**
 * Restarts a nats-server that refuses writes although its disk has room, until `signal` aborts. After a full disk a stream refuses all writes until
 * the server restarts. Up to five restarts are tried in a row, with a backoff from 10 seconds to 5 minutes. Never rejects.
 */
export async function keepWritable(
  { url, password, folder, kept, onNews }: WatchedServer,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  let saidFull = false;
  const aborted = new Promise<undefined>((resolve) => {
    const end = () => resolve(undefined);
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
  });
  const opening = openServerHealth({ url, password }).catch((error: unknown) => {
    onNews(`nats-server is not watched, because its health cannot be queried: ${messageOf(error)}`);
    return undefined;
  });
  const pause = (ms: number) => delay(ms, undefined, { signal }).catch(() => {});
  try {
    while (!signal.aborted) {
      await pause(askEveryMs);
      const health = await Promise.race([opening, aborted]);
      if (signal.aborted || health === undefined) return;
      // A server that does not answer is down or starting, and `keepRunning` handles that. It does not count as healthy either.
      const asked = health.problem().then(
        (found) => ({ problem: found }),
        () => undefined,
      );
      const answer = await Promise.race([asked, aborted]);
      if (answer === undefined) continue;
      const { problem } = answer;
      if (problem === undefined) {
        failures = 0;
        saidFull = false;
        continue;
      }
      if (failures === mostRestarts) continue;
      if (await isFull(folder)) {
        if (!saidFull) onNews(`nats-server refuses writes (${problem}), and its disk is full: make room in ${folder}`);
        saidFull = true;
        continue;
      }
      await kept.restart(
        stopGraceMs,
        `nats-server refused writes although there is room (${problem}) and is restarted`,
      );
      failures += 1;
      if (failures === mostRestarts)
        onNews(`nats-server still refuses writes (${problem}): ${folder}/nats.log says why`);
      saidFull = false;
      await pause(pauseAfter(failures, restartAgain));
    }
  } finally {
    // The connection to a server that is down may never open, so it is not awaited.
    void opening.then((health) => health?.close());
  }
}

/** True if the disk has too little room; false if that cannot be found out. */
async function isFull(folder: string): Promise<boolean> {
  const room = await statfs(folder).catch(() => undefined);
  return room !== undefined && room.bavail * room.bsize < leastRoomBytes;
}
