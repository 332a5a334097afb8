import type { KV } from '@nats-io/kv';
import { setTimeout as delay } from 'node:timers/promises';
import type { HeldLease, Leases } from '../leases.ts';
import { isConflict } from './nats-event-log.ts';

/** Interval at which a spare requests the role. */
const retryMs = 250;
/** Two renewals can fail before the lease is lost. */
const renewalsPerTtl = 3;

/** Leases as keys of a bucket with a TTL of `ttlMs`: a key that is not renewed expires. */
export function natsLeases(kv: KV, ttlMs: number): Leases {
  return {
    async acquire(role, holder, signal) {
      for (;;) {
        signal.throwIfAborted();
        const askedAt = performance.now();
        // Another process has the role, or the bus is unavailable. The request is repeated.
        const revision = await kv.create(role, holder).catch(() => undefined);
        const isInTime = performance.now() - askedAt < ttlMs;
        if (revision !== undefined && isInTime) return hold(kv, ttlMs, { role, holder, revision, renewedAt: askedAt });
        await delay(retryMs, undefined, { signal });
      }
    },
  };
}

/** `renewedAt` is the time before the request was sent, so the holder gives up the role before the key expires, never after. */
type Taken = { role: string; holder: string; revision: number; renewedAt: number };

function hold(kv: KV, ttlMs: number, { role, holder, ...taken }: Taken): HeldLease {
  const lost = new AbortController();
  let { revision, renewedAt } = taken;
  let renewing: Promise<void> = Promise.resolve();
  const end = (reason: string) => {
    stopTimers();
    lost.abort(new Error(`The lease "${role}" of ${holder} is lost: ${reason}.`));
  };
  const renew = async () => {
    const askedAt = performance.now();
    // This also catches a holder that was paused and has just resumed.
    if (askedAt - renewedAt > ttlMs) return end('it was not renewed in time');
    try {
      revision = await kv.update(role, holder, revision);
      renewedAt = askedAt;
      watchdog.refresh();
    } catch (error) {
      if (isConflict(error)) end('another holder has it');
      else if (performance.now() - renewedAt > ttlMs) end('the bus was unavailable for too long');
    }
  };
  const timer = setInterval(() => {
    renewing = renewing.then(() => (lost.signal.aborted ? undefined : renew()));
  }, ttlMs / renewalsPerTtl);
  // A renewal may wait for its answer longer than the key lives, so the end of the lease does not wait for it. An answer that arrived while
  // this process was busy is read first.
  const watchdog = setTimeout(() => {
    setImmediate(() => {
      if (!lost.signal.aborted && performance.now() - renewedAt >= ttlMs) end('it was not renewed in time');
    });
  }, ttlMs);
  const stopTimers = () => {
    clearInterval(timer);
    clearTimeout(watchdog);
  };
  return {
    lost: lost.signal,
    async release() {
      if (lost.signal.aborted) return;
      stopTimers();
      await renewing;
      if (lost.signal.aborted) return;
      lost.abort(new Error(`The lease "${role}" was released by ${holder}.`));
      await kv.delete(role, { previousSeq: revision }).catch(() => {});
    },
  };
}
