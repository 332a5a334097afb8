import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HeldLease, Leases } from './leases.ts';

export type LeasesUnderTest = {
  /** Two competitors, each with its own connection. */
  first: Leases;
  second: Leases;
  /** Takes a role in another process, then kills that process with SIGKILL. */
  takeAndDie(role: string): Promise<void>;
  /** Cuts the connection to the server until the returned function is called. */
  cutOff(): Promise<() => Promise<void>>;
  stop(): Promise<void>;
};

/** A role for which the competitors' user has the rights. */
const role = 'orchestrator';

const never = new AbortController().signal;
const lostOf = (lease: HeldLease): Promise<void> =>
  new Promise((resolve) => {
    if (lease.lost.aborted) resolve();
    else lease.lost.addEventListener('abort', () => resolve(), { once: true });
  });

/** Tests that every adapter of `Leases` must pass. */
export function leasesContract(name: string, open: () => Promise<LeasesUnderTest>): void {
  describe(`the contract of leases, kept by ${name}`, () => {
    let under: LeasesUnderTest;
    beforeAll(async () => {
      under = await open();
    });
    afterAll(() => under.stop());

    test('gives a role to one of many that want it at once, and to the next when it is released', async () => {
      let holders = 0;
      const turns = [under.first, under.second, under.first, under.second].map(async (leases, n) => {
        const lease = await leases.acquire(role, `holder-${n}`, never);
        holders += 1;
        expect(holders).toBe(1);
        await Promise.resolve();
        holders -= 1;
        await lease.release();
        expect(lease.lost.aborted).toBe(true);
      });
      await Promise.all(turns);
    });

    test('stops waiting when its signal aborts', async () => {
      const held = await under.first.acquire(role, 'a', never);
      const stop = new AbortController();
      const waiting = under.second.acquire(role, 'b', stop.signal);
      stop.abort();
      await expect(waiting).rejects.toThrow(/abort/i);
      await held.release();
    });

    test('frees the role of a holder that died', async () => {
      await under.takeAndDie(role);
      const lease = await under.second.acquire(role, 'heir', never);
      expect(lease.lost.aborted).toBe(false);
      await lease.release();
    });

    test('tells a holder that is cut off that it lost the role, which another one then keeps', async () => {
      const held = await under.first.acquire(role, 'a', never);
      const restore = await under.cutOff();
      await lostOf(held);
      await restore();
      const lease = await under.second.acquire(role, 'b', never);
      await held.release();
      await expect(under.first.acquire(role, 'a', AbortSignal.timeout(300))).rejects.toThrow(/abort|timeout/i);
      expect(lease.lost.aborted).toBe(false);
      await lease.release();
    });
  });
}
