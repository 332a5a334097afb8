import { expect, test } from 'vitest';
import { changeLine } from './run-dev.ts';

test('a change has one line: its files, the pages that it affects, the time, and the problems', () => {
  const done = { names: ['guides/x.mdx'], affected: 1, shown: 1, ms: 33.6, problems: [] };
  expect(changeLine(done)).toBe('guides/x.mdx  1 page  34 ms');
  const problem = { severity: 'warning', code: 'x', message: 'X.', file: 'a.mdx' } as const;
  expect(changeLine({ ...done, names: ['docs.json', 'a.mdx', 'b.mdx'], affected: 1_600, problems: [problem] })).toBe(
    'docs.json and 2 other files  1,600 pages  34 ms  1 warning',
  );
});
