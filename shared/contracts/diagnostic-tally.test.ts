import { expect, test } from 'vitest';
import type { Diagnostic } from './diagnostic.ts';
import { DiagnosticTally } from './diagnostic-tally.ts';

const found = (severity: Diagnostic['severity'], code: string, file: string): Diagnostic => ({
  severity,
  code,
  message: `${code} in ${file}.`,
  file,
});

test('problems are counted by code, errors first, then the most frequent', () => {
  const tally = new DiagnosticTally().add([
    found('info', 'unknown-setting', ''),
    found('warning', 'broken-link', 'a.mdx'),
    found('warning', 'unknown-component', 'b.mdx'),
    found('warning', 'unknown-component', 'a.mdx'),
    found('warning', 'unknown-component', 'a.mdx'),
    found('error', 'mdx-syntax', 'c.mdx'),
  ]);
  expect(tally.rows()).toEqual([
    { code: 'mdx-syntax', severity: 'error', count: 1, files: 1, example: 'mdx-syntax in c.mdx.' },
    { code: 'unknown-component', severity: 'warning', count: 3, files: 2, example: 'unknown-component in b.mdx.' },
    { code: 'broken-link', severity: 'warning', count: 1, files: 1, example: 'broken-link in a.mdx.' },
    { code: 'unknown-setting', severity: 'info', count: 1, files: 0, example: 'unknown-setting in .' },
  ]);
  expect(tally.count('warning')).toBe(4);
  expect(new DiagnosticTally().rows()).toEqual([]);
});
