import type { JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { messageOf } from '#shared/runtime/failures.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { type Clock, systemClock } from '#shared/runtime/time-and-ids.ts';
import { bucketRows, type BusUser } from '../subjects/subject-table.ts';
import { whileAway } from './connection.ts';

/** Interval between two requests for the time of the bus. The drift of a machine's clock in between is negligible. */
const askEveryMs = 30_000;
/** Timeout of the first answer. A service that starts waits for the bus anyway. */
const firstAnswerWithinMs = 15_000;
const answerWithinMs = 5_000;
/** Smallest offset of this machine's clock that is logged. */
const farMs = 60_000;

/** Every service may request the state of this bucket, which reveals nothing but the time of the request. */
const bucket = 'readiness';

/** `busTime - performance.now()`, and its maximum error: half of the time that the answer took. */
type Reading = { offsetMs: number; errorMs: number };

/**
 * The time of the bus, taken from the timestamps of its answers. Services on machines with different clocks agree on it, so a deadline
 * begins for all of them when the request was stored. Between answers it runs by this process's monotonic clock, so changes to the
 * machine's clock have no effect. A user without the right to ask gets the clock of its machine.
 */
export async function busClock(
  connection: NatsConnection,
  jsm: JetStreamManager,
  user: BusUser,
  log?: Logger,
): Promise<Clock> {
  if (!bucketRows.some(({ name, writers }) => name === bucket && writers.includes(user))) return systemClock;
  const read = (withinMs: number): Promise<Reading> =>
    whileAway('asking the bus for its time', withinMs, async () => {
      const askedAt = performance.now();
      const info = await jsm.streams.info(`KV_${bucket}`);
      const answeredAt = performance.now();
      const offsetMs = Date.parse(String((info as { ts?: unknown }).ts)) - (askedAt + answeredAt) / 2;
      if (Number.isNaN(offsetMs)) throw new Error('The bus does not report its time. Use nats-server 2.12 or later.');
      return { offsetMs, errorMs: (answeredAt - askedAt) / 2 };
    });

  let known: Reading | undefined;
  const take = (reading: Reading): void => {
    // A slow answer is less exact than a quick one, so it is ignored while the two do not contradict each other.
    const isSame =
      known !== undefined && Math.abs(reading.offsetMs - known.offsetMs) <= reading.errorMs + known.errorMs;
    if (known === undefined || !isSame || reading.errorMs <= known.errorMs) known = reading;
  };
  const askAgain = async (): Promise<void> => {
    try {
      take(await read(answerWithinMs));
    } catch (error) {
      // The clock keeps the last known offset.
      if (!connection.isClosed()) log?.debug({ err: error }, 'the bus did not tell its time');
    }
  };
  const now = (): Date =>
    known === undefined ? systemClock.now() : new Date(Math.round(known.offsetMs + performance.now()));

  try {
    take(await read(firstAnswerWithinMs));
    const aheadMs = systemClock.now().getTime() - now().getTime();
    if (Math.abs(aheadMs) > farMs)
      log?.warn(
        { aheadMs },
        'the clock of this machine differs from the time of the bus, which is used instead; synchronize the clocks of all machines with NTP',
      );
  } catch (error) {
    log?.warn(
      { err: error },
      `the bus does not report its time, so the clock of this machine is used: ${messageOf(error)}`,
    );
  }
  const timer = setInterval(() => void askAgain(), askEveryMs);
  timer.unref();
  void connection.closed().then(() => clearInterval(timer));
  void (async () => {
    // When a machine was suspended, its connection is lost, and its monotonic clock did not advance.
    for await (const { type } of connection.status()) if (type === 'reconnect') void askAgain();
  })();
  return { now };
}
