import { expect, test } from 'vitest';
import { scoreLine, scoreOf } from './scores.ts';

const mutants = (...statuses: string[]) => ({ mutants: statuses.map((status) => ({ status })) });
const report = {
  files: {
    'a.ts': mutants('Killed', 'Killed', 'Timeout', 'Survived', 'NoCoverage', 'Ignored', 'CompileError', 'RuntimeError'),
    'b.ts': mutants('Killed', 'Survived'),
  },
};

test('a score counts the changes that a test noticed, in the named files', () => {
  expect(scoreOf(report, ['a.ts'])).toEqual({ killed: 2, timedOut: 1, survived: 1, notReached: 1, percent: 60 });
  expect(scoreOf(report, ['a.ts', 'b.ts']).percent).toBeCloseTo(57.1, 1);
  expect(scoreOf(report, ['c.ts']).percent).toBe(100);
});

test('a line has the score rounded down, or says that there is none', () => {
  const score = { killed: 8_498, timedOut: 1, survived: 1_500, notReached: 1, percent: 84.99 };
  expect(scoreLine('link filter', score)).toBe(
    'link filter         84.9 %   8498 killed, 1 timed out, 1500 survived, 1 not reached',
  );
  expect(scoreLine('link filter', undefined)).toContain('failed');
});
