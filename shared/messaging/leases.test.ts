import pino from 'pino';
import { expect, test } from 'vitest';
import { leadByTurns } from './leases.ts';

/** Leads until `stop` aborts, and returns the steps in order. `lose` ends the lease that is held. */
async function lead(work: (turn: number, lose: () => void) => Promise<void>, stop: AbortController): Promise<string[]> {
  const happened: string[] = [];
  let lost = new AbortController();
  let turn = 0;
  const leases = {
    acquire: async (role: string, holder: string) => {
      lost = new AbortController();
      happened.push(`${holder} leads ${role}`);
      return { lost: lost.signal, release: async () => void happened.push('released') };
    },
  };
  await leadByTurns(
    { leases, role: 'r', holder: 'a', logger: pino({ level: 'silent' }) },
    async (signal) => {
      turn += 1;
      await work(turn, () => lost.abort());
      if (signal.aborted) happened.push('aborted');
    },
    stop.signal,
  );
  return happened;
}

test('a holder that loses the lease gives it back, and leads again when it has it again', async () => {
  const stop = new AbortController();
  const happened = await lead(async (turn, lose) => (turn === 1 ? lose() : stop.abort()), stop);
  expect(happened).toEqual(['a leads r', 'aborted', 'released', 'a leads r', 'aborted', 'released']);
});

test('when the work fails the lease is released', async () => {
  const stop = new AbortController();
  const fail = async () => {
    setImmediate(() => stop.abort());
    throw new Error('the bus is unavailable');
  };
  expect(await lead(fail, stop)).toEqual(['a leads r', 'released']);
});
