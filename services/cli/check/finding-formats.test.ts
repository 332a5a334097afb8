import { expect, test } from 'vitest';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { formattedFindings, sarifLog } from './finding-formats.ts';

const findings: Diagnostic[] = [
  { severity: 'info', code: 'heavy-page', message: 'Large.', file: 'a b/ü.mdx' },
  { severity: 'error', code: 'bad-path', message: '100 % wrong:\r\n<&">\u0000', file: 'a,b:c.mdx', line: 3, column: 7 },
  { severity: 'warning', code: 'from-another-version', message: 'So.', file: '' },
  { severity: 'info', code: 'heavy-page', message: 'Large.', file: 'a b/ü.mdx' },
];

test('SARIF names files by their URI in the repository, rules with their help, and equal findings apart', () => {
  const log = sarifLog(findings, 'docs/') as {
    version: string;
    runs: { tool: { driver: { rules: object[] } }; results: object[] }[];
  };
  expect(log.version).toBe('2.1.0');
  const [run] = log.runs;
  expect(run?.tool.driver.rules).toMatchObject([
    {
      id: 'bad-path',
      help: { markdown: expect.stringContaining('Rename the file.') as string },
      defaultConfiguration: { level: 'error' },
    },
    { id: 'from-another-version' },
    {
      id: 'heavy-page',
      shortDescription: { text: expect.stringMatching(/^A page /) as string },
      defaultConfiguration: { level: 'note' },
    },
  ]);
  expect(run?.results).toMatchObject([
    {
      ruleId: 'heavy-page',
      ruleIndex: 2,
      level: 'note',
      locations: [{ physicalLocation: { artifactLocation: { uri: 'docs/a%20b/%C3%BC.mdx' } } }],
    },
    { level: 'error', locations: [{ physicalLocation: { region: { startLine: 3, startColumn: 7 } } }] },
    { level: 'warning', locations: [] },
    {},
  ]);
  const prints = run?.results.map((result) =>
    JSON.stringify((result as { partialFingerprints: object }).partialFingerprints),
  );
  expect(new Set(prints).size).toBe(4);
});

test('GitHub gets errors first, with its escapes', () => {
  expect(formattedFindings('github', findings, 'docs/').split('\n')).toEqual([
    '::error file=docs/a%2Cb%3Ac.mdx,line=3,col=7,title=bad-path::100 %25 wrong:%0D%0A<&">\u0000',
    '::warning title=from-another-version::So.',
    '::notice file=docs/a b/ü.mdx,title=heavy-page::Large.',
    '::notice file=docs/a b/ü.mdx,title=heavy-page::Large.',
  ]);
  expect(formattedFindings('github', [], '')).toBe('');
});

test('JUnit has a suite for each file, and only errors fail', () => {
  const report = formattedFindings('junit', findings, 'docs/');
  expect(report).toContain('<testsuites name="bindery check" tests="4" failures="1" errors="0">');
  expect(report).toContain('<testsuite name="docs/a,b:c.mdx" tests="1" failures="1" errors="0">');
  expect(report).toContain('<failure type="bad-path" message="100 % wrong:&#13;&#10;&lt;&amp;&quot;&gt;\ufffd">');
  expect(report.match(/<system-out>/g)).toHaveLength(3);
  expect(formattedFindings('junit', [], '')).toContain('<testcase name="no problems" classname="project"/>');
});
