import { expect, test } from 'vitest';
import { processorTimeMs } from './child.ts';

test.skipIf(process.platform !== 'linux')('tells what a process has used, as that process itself knows it', () => {
  const { user, system } = process.cpuUsage();
  const told = processorTimeMs(process.pid);
  // Ticks of 10 ms, and what this test uses between the two readings.
  expect(told).toBeGreaterThan((user + system) / 1_000 - 50);
  expect(told).toBeLessThan((user + system) / 1_000 + 1_000);
});

test('knows nothing of a process that is not there', () => {
  expect(processorTimeMs(99_999_999)).toBeUndefined();
});
