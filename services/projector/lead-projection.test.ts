import pino from 'pino';
import { expect, test } from 'vitest';
import { testAuditKey } from '../../test/support/make-commit.ts';
import { memoryBus } from '../../test/support/memory-bus.ts';
import { exportProjection } from './export-projection.ts';
import { beginRebuild, firstPointer } from './projection-pointer.ts';
import { leadProjection } from './lead-projection.ts';

const noon = new Date('2026-03-01T12:00:00.000Z');

test('a projector that gives up still ends its step, so that the next leader has the generation to itself', async () => {
  const bus = memoryBus();
  await bus.projections.pointers.put('exports', beginRebuild(firstPointer, 'r1', noon));
  const happened: string[] = [];
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  bus.projectionReaders.exports = () => failed;
  bus.projections.startOver = async () => {
    fail(new Error('The follower cannot read.'));
    for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
    happened.push('emptied');
  };
  const run = {
    bus,
    instance: 'test',
    clock: { now: () => noon },
    auditKey: testAuditKey,
    logger: pino({ level: 'silent' }),
    source: exportProjection,
  };
  await leadProjection(run, new AbortController().signal).catch((error: Error) => happened.push(error.message));
  expect(happened).toEqual(['emptied', 'The follower cannot read.']);
});
