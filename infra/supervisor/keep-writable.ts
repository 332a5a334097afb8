import { statfs } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { openServerHealth } from '#shared/messaging/nats/server-health.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { pauseAfter, type RetryPolicy } from '#shared/runtime/retry.ts';
import type { KeptProcess } from './keep-running.ts';

const askEveryMs = 2_000;
const stopGraceMs = 10_000;
/** With less room than this a server that is started again stops writing again. */
const leastRoomBytes = 16 * 1024 * 1024;
const restartAgain: RetryPolicy = { firstPauseMs: 10_000, longestPauseMs: 300_000 };
/** What so many restarts do not help needs an operator, and each restart interrupts everyone. */
const mostRestarts = 5;

type WatchedServer = {
  url: string;
  /** Of the user "supervisor". */
  password: string;
  /** Its streams are on this disk. */
  folder: string;
  kept: Pick<KeptProcess, 'restart'>;
  /** One line about each change, not one for each question. */
  onNews: (news: string) => void;
};

/**
 * Starts a nats-server again that refuses writes although its disk has room, until `signal` aborts. After a full disk a stream refuses
 * everything until the server starts again. A restart that does not help is repeated after 10 seconds, then ever later, five times in all. Never
 * rejects.
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
    onNews(`nats-server cannot be asked whether it stores what it is sent, so it is not watched: ${messageOf(error)}`);
    return undefined;
  });
  const pause = (ms: number) => delay(ms, undefined, { signal }).catch(() => {});
  try {
    while (!signal.aborted) {
      await pause(askEveryMs);
      const health = await Promise.race([opening, aborted]);
      if (signal.aborted || health === undefined) return;
      // A server that does not answer is down or starts: whoever keeps it running knows. Silence is no sign of health.
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
        `nats-server refused writes although there is room (${problem}) and is started again`,
      );
      failures += 1;
      if (failures === mostRestarts)
        onNews(`nats-server still refuses writes (${problem}): ${folder}/nats.log says why`);
      saidFull = false;
      await pause(pauseAfter(failures, restartAgain));
    }
  } finally {
    // A server that is away may never answer.
    void opening.then((health) => health?.close());
  }
}

/** Whether the disk has too little room. One that cannot be asked may have enough. */
async function isFull(folder: string): Promise<boolean> {
  const room = await statfs(folder).catch(() => undefined);
  return room !== undefined && room.bavail * room.bsize < leastRoomBytes;
}
