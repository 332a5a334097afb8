import { expect, test } from 'vitest';
import type { ContentList } from '#shared/interfaces/http/content.ts';
import type { ListedApiKey } from '#shared/interfaces/http/directory.ts';
import { diagnosticTable } from './commands/check.ts';
import { diagnosticCounts, diagnosticLine } from './format.ts';
import { findingsText as printedFindings } from './check/print-findings.ts';
import { contentNamed, contentTable } from './commands/content.ts';
import { digestSentence, findingsText } from './commands/export.ts';
import { previewTable } from './commands/housekeeping.ts';
import { endsAllMakers, keyTable, revokedText } from './commands/keys.ts';
import { explanationText, passageText } from './commands/search.ts';
import { drawBar, paintFor, terminalWidth } from './terminal.ts';

const now = new Date('2026-03-01T10:00:00.000Z');

const key = (changes: Partial<ListedApiKey>): ListedApiKey => ({
  id: `key_${'a'.repeat(16)}`,
  kind: 'admin',
  name: '',
  scopes: ['read', 'write'],
  allowedAddresses: [],
  allowedOrigins: [],
  createdAt: '2026-01-01T00:00:00.000Z',
  ...changes,
});

test('keys are told apart by state', () => {
  const lines = keyTable(
    [
      key({ name: 'site', lastUsedAt: '2026-02-28T23:59:58.000Z' }),
      key({ expiresAt: '2026-02-01T00:00:00.000Z' }),
      key({ expiresAt: '2027-02-01T00:00:00.000Z', revokedAt: '2026-01-02T00:00:00.000Z' }),
    ],
    now,
  ).split('\n');
  expect(lines[1]).toMatch(/good +2026-01-01 +never +2026-02-28 23:59 +site$/);
  expect(lines[2]).toMatch(/expired .*2026-02-01 +never$/);
  expect(lines[3]).toContain('revoked');
  expect(lines[0]).not.toContain('Only from');
  const addresses = ['10.0.0.0/8', '192.0.2.1', '192.0.2.2'];
  const bound = keyTable([key({ allowedAddresses: addresses, allowedOrigins: ['https://a.test'] }), key({})], now);
  expect(bound).toContain('Only from');
  expect(bound).toMatch(/10\.0\.0\.0\/8, 192\.0\.2\.1, 192\.0\.2\.2 and 1 more/);
  expect(keyTable([], now)).toBe('No API keys.');
});

const list: ContentList = {
  domain: 'acme',
  versions: [
    {
      contentVersion: `cv_${'ab'.repeat(16)}`,
      publishedAt: now.toISOString(),
      pages: 1200,
      labels: ['v2', 'beta'],
      latest: true,
      searched: false,
    },
    {
      contentVersion: `cv_${'ac'.repeat(16)}`,
      publishedAt: now.toISOString(),
      pages: 3,
      labels: [],
      latest: false,
      searched: true,
    },
  ],
};

test('contents are listed with their labels, and what they are', () => {
  const [, first, second] = contentTable(list).split('\n');
  expect(first).toMatch(/1,200 +latest +v2, beta$/);
  expect(second).toMatch(/ 3 +searched$/);
  expect(contentTable({ domain: 'acme', versions: [] })).toBe('Nothing has been published to "acme".');
});

test('content is named by its version, the start of it, or a label', () => {
  expect(contentNamed(list, 'v2')).toBe(`cv_${'ab'.repeat(16)}`);
  expect(contentNamed(list, 'cv_aca')).toBe(`cv_${'ac'.repeat(16)}`);
  expect(() => contentNamed(list, 'cv_a')).toThrow('2 content versions of "acme" begin with "cv_a"');
  expect(() => contentNamed(list, 'v9')).toThrow('There is no content version or label "v9"');
});

test('findings are printed by file, with their line and a caret', () => {
  const diagnostic = {
    severity: 'error',
    code: 'mdx-syntax',
    message: 'Close the\n\u001b[31mtag.',
    file: 'a.mdx',
    line: 3,
    column: 7,
  } as const;
  expect(diagnosticLine(diagnostic)).toBe('a.mdx:3:7: error mdx-syntax: Close the [31mtag.');
  const text = '# A\r\n\r\nA \t字 <Card>\u001b and more\r\n';
  const found = [diagnostic, { severity: 'info', code: 'x', message: 'So.', file: '' } as const];
  expect(printedFindings(found, { textOf: () => text }).split('\n')).toEqual([
    'The whole project',
    '  info  So.',
    '      x  /reference/findings#x',
    '',
    'a.mdx',
    '  3:7  error  Close the [31mtag.',
    '     3 │ A   字 <Card>  and more',
    '       │         ^',
    '      mdx-syntax  /reference/findings#mdx-syntax',
  ]);
  const [, , shown = '', caret = ''] = printedFindings([{ ...diagnostic, line: 1, column: 151 }], {
    textOf: () => `${'a'.repeat(150)}b${'c'.repeat(150)}`,
    columns: 60,
  }).split('\n');
  expect(shown.indexOf('b')).toBe(caret.indexOf('^'));
  expect(shown.length).toBeLessThan(62);
  const setting = { severity: 'warning', code: 'bad-setting', message: '"theme" is "x".', file: 'docs.json' } as const;
  expect(printedFindings([setting], { textOf: () => '{\n  "theme": "x"\n}' })).toContain('  2:3  warning  ');
  expect(diagnosticCounts([diagnostic, diagnostic, { ...diagnostic, severity: 'info' }])).toBe('2 errors, 1 remark');
  expect(diagnosticCounts([])).toBe('no problems');
  expect(diagnosticTable([diagnostic, { ...diagnostic, file: 'b.mdx' }])).toMatch(
    /^Code .*\nmdx-syntax +error +2 +2 +Close the/,
  );
});

test('a passage shows where it is and how it begins', () => {
  const text = passageText({
    content: `Bundles ${'are long '.repeat(60)}`,
    path: 'concepts/bundle',
    metadata: { title: 'Bundle', heading: 'Check it', url: '/concepts/bundle#check-it', score: 0.8251 },
  });
  expect(text).toMatch(/^0\.83 {2}Bundle › Check it \(\/concepts\/bundle#check-it\)\n {6}Bundles .* …$/);
});

test.each([
  ['same', /^same: .* se_1, byte for byte/],
  ['different', /^different: /],
  ['renderer-changed', /^renderer-changed: .* another version/],
  [undefined, /nothing to compare with/],
] as const)('a replay whose digest match is %s says so', (digestMatch, sentence) => {
  expect(digestSentence({ replayOf: 'se_1', ...(digestMatch ? { digestMatch } : {}) })).toMatch(sentence);
});

test('colours are for terminals, unless somebody does not want them', () => {
  expect(paintFor({ isTTY: true }, {})('red', 'x')).toContain('\u001b[31m');
  expect(paintFor({ isTTY: true }, { NO_COLOR: '1' })('red', 'x')).toBe('x');
  expect(paintFor({ isTTY: true }, { TERM: 'dumb' })('red', 'x')).toBe('x');
  expect(paintFor({}, {})('red', 'x')).toBe('x');
});

test('the width is that of the terminal, else what COLUMNS says, else 100', () => {
  expect(terminalWidth({ columns: 71 }, '60')).toBe(71);
  expect(terminalWidth({}, '60')).toBe(60);
  expect(terminalWidth({}, 'wide')).toBe(100);
});

test('the objects that would be removed, by organization and kind', () => {
  const content = { organization: 'acme', domain: 'docs', contentVersion: `cv_${'1'.repeat(32)}` };
  const previews = [
    { organization: 'acme', objects: { segments: { objects: 12, bytes: 3456 } }, contents: [content] },
    { organization: 'beta', objects: { bundles: { objects: 1, bytes: 7 } }, contents: [] },
  ];
  const table = previewTable(previews, []);
  expect(table.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['organization', 'what', 'count', 'bytes'],
    ['acme', 'segments', '12', '3456'],
    ['acme', 'content versions', '1'],
    ['beta', 'bundles', '1', '7'],
  ]);
  expect(previewTable([], [])).toBe('Nothing would be removed.');
  expect(previewTable(previews, ['omega']).split('\n').at(-1)).toMatch(/^Nothing of omega is removed: /);
});

test('the bar is as long at every progress, also outside 0 to 100', () => {
  const lengths = [0, 12.34, 50, 100].map((progress) => drawBar(progress, '').length);
  expect(new Set(lengths).size).toBe(1);
  expect(drawBar(150, 'x')).toContain('━'.repeat(30));
  expect(drawBar(-1, 'x')).not.toContain('━');
});

test.each([
  ['alone', [], true],
  ['beside one that only reads', [{ id: 'key_2', scopes: ['read'] }], true],
  ['beside one that has ended', [{ id: 'key_2', expiresAt: '2026-01-01T00:00:00.000Z' }], true],
  ['beside one that is revoked', [{ id: 'key_2', revokedAt: '2026-01-01T00:00:00.000Z' }], true],
  ['beside an assistant key', [{ id: 'key_2', kind: 'assistant' }], true],
  ['beside another', [{ id: 'key_2' }], false],
] satisfies [string, Partial<ListedApiKey>[], boolean][])(
  'an admin key %s: whether it is the last one',
  (_how, others, isLast) => {
    const keys = [{ id: 'key_1' }, ...others].map((one: Partial<ListedApiKey>) => key(one));
    expect(endsAllMakers(['key_1'], keys, new Date('2026-06-01T00:00:00.000Z'))).toBe(isLast);
  },
);

test('the revocation of several keys says so when none is left that makes others', () => {
  const keys = [key({ id: 'key_1' }), key({ id: 'key_2' })];
  expect(endsAllMakers(['key_1', 'key_2'], keys, new Date('2026-06-01T00:00:00.000Z'))).toBe(true);
  expect(endsAllMakers(['key_1'], [], new Date('2026-06-01T00:00:00.000Z'))).toBe(false);
});

test('a revoked key is shown with what it made', () => {
  expect(revokedText('key_1', [])).toBe('Revoked key_1. It made no keys that are still valid.');
  const text = revokedText('key_1', [
    key({ id: 'key_2', name: 'a\u001B[2Jb' }),
    key({ id: 'key_3', revokedAt: '2026-01-02T00:00:00.000Z' }),
  ]);
  expect(text).toMatch(/^Revoked key_1\. Directly or through other keys, it made 2 keys:\n/);
  expect(text).toMatch(/key_2 +admin +good/);
  expect(text).toMatch(/key_3 +admin +revoked/);
  expect(text).not.toContain('\u001B');
});

test('how scores came about, as a table with the words that were searched', () => {
  const hit = (url: string, score: number, title: number) => ({
    ...{ content: 'x', path: url },
    metadata: {
      ...{ title: 'T', heading: '', url, score },
      explanation: {
        ...{ coverage: 1, signals: { passages: 1, title } },
        words: [
          { word: 'delet', terms: { delet: 1, remov: 0.7 } },
          { word: 'xyzzy', terms: {} },
        ],
      },
    },
  });
  expect(explanationText([hit('/a#b', 0.912, 0.5), hit('/c', 0.4, 0)]).split('\n')).toEqual([
    'score  coverage  passages  title  passage',
    '0.912  1.00      1.00      0.50   /a#b',
    '0.400  1.00      1.00      0.00   /c',
    'Searched words:',
    '  delet: delet, remov × 0.7',
    '  xyzzy: nowhere',
  ]);
});

test('an export says how many findings its report has, and where to read them', () => {
  expect(findingsText({ errors: 0, warnings: 0 })).toBe('');
  expect(findingsText({ errors: 1, warnings: 32 })).toBe(
    '\nIts report has 1 error and 32 warnings: see _bindery/report.json in the bundle, or "bindery check <folder>".',
  );
});
