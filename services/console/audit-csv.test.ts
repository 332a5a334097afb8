import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { AuditEntry } from '#shared/contracts/audit-entry.ts';
import { auditCsvHead, auditCsvLine, csvCell, linesOf } from './audit-csv.ts';

test.each([
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['\r=1', '"\'\r=1"'],
  [' =1+1', "' =1+1"],
  ['=HYPERLINK("http://evil.test","x")', '"\'=HYPERLINK(""http://evil.test"",""x"")"'],
  ['a, b', '"a, b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\nlines', '"two\nlines"'],
  ['ada@acme.test', 'ada@acme.test'],
  ['＝1+1', "'＝1+1"],
  // Spreadsheets of many languages divide cells at semicolons and tabs.
  ['a;=1+1', "a;'=1+1"],
  ['a; =1+1', "a;' =1+1"],
  ['a;"=1+1"', '"a;\'""=1+1"""'],
  ['a\t@SUM(A1)', "a\t'@SUM(A1)"],
  ['Mozilla/5.0 (X11; Linux)', 'Mozilla/5.0 (X11; Linux)'],
  [undefined, ''],
  [7, '7'],
])('the cell %j is written as %j, which no spreadsheet runs', (value, cell) => {
  expect(csvCell(value)).toBe(cell);
});

test('a line has a cell for each name of the head, with the name of the key that acted', () => {
  const entry: AuditEntry = {
    id: 'ec_1:0',
    time: '2026-03-01T10:00:00.000Z',
    action: 'key.created',
    actor: { kind: 'key', id: 'key_1' },
    keyId: 'key_2',
    name: '=cmd',
    pageCount: 0,
    commit: { subject: 'directory.acme', revision: 2, id: 'ec_1' },
  };
  const names = auditCsvHead.trim().split(',');
  const cells = auditCsvLine(entry, (id) => (id === 'key_1' ? 'CI' : undefined))
    .trim()
    .split(',');
  expect(cells).toHaveLength(names.length);
  const row = Object.fromEntries(names.map((name, at) => [name, cells[at]]));
  expect(row).toMatchObject({
    ...{ action: 'key.created', actor: 'key_1', actorKind: 'key', actorName: 'CI', keyId: 'key_2', name: "'=cmd" },
    ...{ pageCount: '0', entry: 'ec_1:0', commit: 'directory.acme', revision: '2', domain: '' },
  });
});

test('a person who is called like a key has no name of a key', () => {
  const actor = { kind: 'person', id: 'key_1' } as const;
  const commit = { subject: 'directory.acme', revision: 2, id: 'ec_1' };
  const entry: AuditEntry = { id: 'e', time: '2026-03-01T10:00:00.000Z', action: 'key.created', actor, commit };
  expect(auditCsvLine(entry, () => 'CI')).toContain('key.created,key_1,person,,');
});

test('lines are found wherever the text is divided', async () => {
  const text = '{"a":1}\n{"b":2}\n\n{"c":3}';
  for (const size of [1, 3, 8, 100]) {
    const parts = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
    const found: string[] = [];
    for await (const line of linesOf(Readable.from(parts))) found.push(line);
    expect(found).toEqual(['{"a":1}', '{"b":2}', '{"c":3}']);
  }
});
