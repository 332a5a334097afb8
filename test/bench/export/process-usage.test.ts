import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { cpuSecondsOf, parseStat } from './process-usage.ts';

test('a name with spaces and parentheses does not move the fields', () => {
  const text = '42 (a) b (c) S 7 42 42 0 -1 4194304 100 200 0 0 11 22 33 44 20 0 1 0 5 6 7';
  expect(parseStat(text)).toEqual({ pid: 42, parent: 7, cpuSeconds: 1.1 });
});

test.runIf(process.platform === 'linux')('the time of ended children is included', () => {
  const before = cpuSecondsOf([process.pid]) ?? 0;
  const burn = 'while (process.cpuUsage().user < 250_000);';
  execFileSync(process.execPath, ['-e', burn]);
  const used = (cpuSecondsOf([process.pid]) ?? 0) - before;
  expect(used).toBeGreaterThan(0.2);
});
