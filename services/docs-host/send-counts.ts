import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf, Unavailable } from '#shared/runtime/failures.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { refusalOfPlatform } from './call-platform.ts';
import { safeRequest, textOf } from './download-bundle.ts';
import type { CountedBatch, SiteCounts } from './site-counts.ts';
import type { SitesPlatform } from './sites-settings.ts';

export type CountTimes = {
  /** Interval of batches. */
  everyMs: number;
  /** Interval at which counts are stored while the platform is unavailable. */
  awayMs: number;
};

const usualTimes: CountTimes = { everyMs: 10_000, awayMs: 300_000 };
const answerWithinMs = 10_000;
/** Time for the last batches when the host stops. The rest is sent after the next start. */
const lastWithinMs = 2_000;
const mostAnswerBytes = 64 * 1024;
/** Limits of the batches on disk; the oldest ones are removed first. Two days have 576 of them, and the platform takes no older ones. */
const mostFiles = 2_000;
const mostBytes = 64 * 1024 * 1024;
/** Limit of the batches in memory that could not be stored, such as on a full disk. */
const mostUnstored = 20;

const fileName = /^\d{15}-\d{6}\.json$/;
/** Suffix of a file that is being written. */
const unfinished = '.next';

/**
 * Sends counts to the platform every ten seconds until `signal` aborts, and then once more. Each batch is a file in `folder` until the platform has
 * taken it, so it may be sent twice, with the same source and sequence. A source is one process, so that no other batch ever has its sequences.
 */
export function sendCounts(
  { url, key }: SitesPlatform,
  counts: Pick<SiteCounts, 'take'>,
  {
    folder,
    logger,
    signal,
    times = usualTimes,
  }: { folder: string; logger: Logger; signal: AbortSignal; times?: CountTimes | undefined },
) {
  const address = new URL(`${url.replace(/\/+$/, '')}/v1/sites/views`);
  const source = randomBase62(16);
  const startedAt = String(Date.now()).padStart(15, '0');
  let sequence = 0;
  let problem: string | undefined;
  let storedAt = 0;
  let unstored: CountedBatch[] = [];

  async function store(isLast: boolean): Promise<void> {
    unstored = [...unstored, ...counts.take({ isLast })].slice(-mostUnstored);
    for (let [days] = unstored; days !== undefined; [days] = unstored) {
      await storeOne(days);
      unstored = unstored.slice(1);
    }
    storedAt = performance.now();
  }

  async function storeOne(days: CountedBatch): Promise<void> {
    const next = sequence + 1;
    const file = join(folder, `${startedAt}-${String(next).padStart(6, '0')}.json`);
    await mkdir(folder, { recursive: true });
    try {
      await writeFile(file + unfinished, JSON.stringify({ source, sequence: next, days }));
      await rename(file + unfinished, file);
    } catch (error) {
      await rm(file + unfinished, { force: true }).catch(() => {});
      throw error;
    }
    sequence = next;
  }

  /** Removes unfinished files of a killed host. */
  async function removeUnfinished(): Promise<void> {
    for (const name of await readdir(folder).catch(() => []))
      if (name.endsWith(unfinished)) await rm(join(folder, name), { force: true }).catch(() => {});
  }

  const stored = async (): Promise<string[]> =>
    (await readdir(folder).catch(() => [])).filter((name) => fileName.test(name)).sort();

  /** Sends the stored batches in their order. Rejects with `Unavailable` for the first that the platform does not take now. */
  async function send(ended: AbortSignal): Promise<void> {
    for (const name of await stored()) {
      await sendOne(await readFile(join(folder, name), 'utf8'), ended);
      await rm(join(folder, name), { force: true });
    }
  }

  async function sendOne(body: string, ended: AbortSignal): Promise<void> {
    const { statusCode, body: answer } = await safeRequest(address, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
      headersTimeout: answerWithinMs,
      bodyTimeout: answerWithinMs,
      signal: ended,
    });
    answer.on('error', () => {});
    const text = await textOf(answer, mostAnswerBytes).catch(() => '');
    if (statusCode === 200) return;
    // A batch that the platform cannot read will never be read. After other refusals, such as that of an older platform, it is kept and sent again.
    if (statusCode === 400 || statusCode === 413)
      logger.error(`a batch of page views is refused: ${text.slice(0, 300)}`);
    else throw new Unavailable(messageOf(refusalOfPlatform(statusCode, text, {})));
  }

  async function removeOldest(): Promise<void> {
    const names = (await stored()).reverse();
    let bytes = 0;
    let removed = 0;
    for (const [at, name] of names.entries()) {
      bytes += (await stat(join(folder, name)).catch(() => ({ size: 0 }))).size;
      if (at < mostFiles && bytes <= mostBytes) continue;
      await rm(join(folder, name), { force: true });
      removed += 1;
    }
    if (removed > 0)
      logger.warn({ removed }, 'the oldest page views are lost, because the platform was unavailable for too long');
  }

  async function step(isLast: boolean): Promise<void> {
    try {
      // While the platform is unavailable, the counts of some minutes form one batch.
      if (isLast || problem === undefined || performance.now() - storedAt >= times.awayMs) await store(isLast);
      await send(isLast ? AbortSignal.timeout(lastWithinMs) : signal);
      if (problem !== undefined) logger.info('page views are sent again');
      problem = undefined;
    } catch (error) {
      if (signal.aborted && !isLast) return;
      const said = messageOf(error);
      if (said !== problem) logger.warn(`page views are kept here: ${said}`);
      problem = said;
      await removeOldest().catch(() => {});
    }
  }

  return {
    /** Ends when the signal has aborted and all counts are sent or stored. */
    async follow(): Promise<void> {
      await removeUnfinished();
      while (!signal.aborted) {
        await delay(times.everyMs, undefined, { signal }).catch(() => {});
        if (!signal.aborted) await step(false);
      }
      await step(true);
    },
    /** The reason why counts are not sent; undefined if there is none. */
    problem: () => problem,
  };
}
