import { expect, test } from 'vitest';
import { processorTimeMs } from './child.ts';

test.skipIf(process.platform !== 'linux')('reports the same processor time as the process itself', () => {
  const { user, system } = process.cpuUsage();
  const told = processorTimeMs(process.pid);
  // Tolerances: ticks of 10 ms, and the time that this test uses between the two readings.
  expect(told).toBeGreaterThan((user + system) / 1_000 - 50);
  expect(told).toBeLessThan((user + system) / 1_000 + 1_000);
});

test('returns nothing for a process that does not exist', () => {
  expect(processorTimeMs(99_999_999)).toBeUndefined();
});
