import type { JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { messageOf } from '#shared/runtime/failures.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { type Clock, systemClock } from '#shared/runtime/time-and-ids.ts';
import { bucketRows, type BusUser } from '../subjects/subject-table.ts';
import { whileAway } from './connection.ts';

/** Between two looks at the time of the bus. No clock of a machine runs so wrong that it matters in between. */
const askEveryMs = 30_000;
/** A service that starts waits for the bus anyway. */
const firstAnswerWithinMs = 15_000;
const answerWithinMs = 5_000;
/** A clock of this machine that is so far off is worth a line in the log. */
const farMs = 60_000;

/** Every service asks for the state of this one, and learns no more than when it was asked. */
const bucket = 'readiness';

/** `busTime - performance.now()`, and how far it may be off: half of the time that the answer took. */
type Reading = { offsetMs: number; errorMs: number };

/**
 * The time of the bus, which is that of the messages that it stores. Services on machines with different clocks agree on it, so that a deadline
 * begins for all of them when the request was stored. Between answers of the bus it runs by this process's monotonic clock: it takes no part when the
 * clock of the machine is set. A user who may not ask has the clock of its machine.
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
      if (Number.isNaN(offsetMs))
        throw new Error('The bus does not say what time it is. nats-server 2.12 or later does.');
      return { offsetMs, errorMs: (answeredAt - askedAt) / 2 };
    });

  let known: Reading | undefined;
  const take = (reading: Reading): void => {
    // An answer that came late says no more than one that came at once, as long as both can be right.
    const isSame =
      known !== undefined && Math.abs(reading.offsetMs - known.offsetMs) <= reading.errorMs + known.errorMs;
    if (known === undefined || !isSame || reading.errorMs <= known.errorMs) known = reading;
  };
  const askAgain = async (): Promise<void> => {
    try {
      take(await read(answerWithinMs));
    } catch (error) {
      // It goes on with what it knows.
      if (!connection.isClosed()) log?.debug({ err: error }, 'the bus did not say what time it is');
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
        'the clock of this machine is not that of the bus, which counts; keep the clocks of all machines right with NTP',
      );
  } catch (error) {
    log?.warn(
      { err: error },
      `the bus does not say what time it is, so the clock of this machine counts: ${messageOf(error)}`,
    );
  }
  const timer = setInterval(() => void askAgain(), askEveryMs);
  timer.unref();
  void connection.closed().then(() => clearInterval(timer));
  void (async () => {
    // A machine that slept lost its connection, and its monotonic clock stood still.
    for await (const { type } of connection.status()) if (type === 'reconnect') void askAgain();
  })();
  return { now };
}
