import { expect, test } from 'vitest';
import type { AuditEntry } from '#shared/contracts/audit-entry.ts';
import { auditListKind } from './audit-trail.ts';
import { lastPartFirst, withEntries as withEntriesOf } from './day-list.ts';

const withEntries = (parts: readonly AuditEntry[][], added: readonly AuditEntry[], size = 500) =>
  withEntriesOf(parts, added, { ...auditListKind, size });

/** The n-th entry of a day. */
const entry = (n: number): AuditEntry => ({
  id: `commit-${n}.0`,
  time: new Date(Date.parse('2026-03-01T10:00:00.000Z') + n * 1_000).toISOString(),
  action: 'export.requested',
  actor: { kind: 'key', id: 'key_0000000000000000' },
  commit: { subject: `exports.acme.se_${n}.log`, revision: 1, id: `commit-${n}` },
});
const numbers = (parts: readonly AuditEntry[][]) =>
  parts.map((part) => part.map(({ id }) => parseInt(id.slice(7), 10)));
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

test('given full parts, when later entries come, then they follow and the full parts stay as they are', () => {
  const before = withEntries([], range(0, 7).map(entry), 3);
  expect(numbers(before)).toEqual([[0, 1, 2], [3, 4, 5], [6]]);
  const after = withEntries(before, [entry(7), entry(8), entry(9)], 3);
  expect(numbers(after)).toEqual([[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]);
  expect(after[0]).toBe(before[0]);
  expect(after[1]).toBe(before[1]);
});

test('given entries that are there, when they come again, then nothing changes', () => {
  const before = withEntries([], range(0, 5).map(entry), 3);
  const after = withEntries(before, [entry(4), entry(1)], 3);
  expect(after.every((part, index) => part === before[index])).toBe(true);
});

test('the parts do not depend on order and batches', () => {
  const all = range(0, 40);
  const expected = withEntries([], all.map(entry), 6);
  for (const step of [7, 11, 23, 39]) {
    // Steps without a common divisor with 41 visit every number but 40 once, each time in another order.
    const order = range(1, 41)
      .map((n) => (n * step) % 41)
      .filter((n) => n < 40);
    let parts: AuditEntry[][] = [];
    for (let start = 0; start < order.length; start += 4) {
      parts = withEntries(parts, order.slice(start, start + 5).map(entry), 6);
    }
    expect(parts).toEqual(withEntries([], order.map(entry), 6));
    expect(new Set(parts.flat().map(({ id }) => id))).toEqual(new Set(order.map((n) => `commit-${n}.0`)));
  }
  expect(numbers(expected).flat()).toEqual(all);
});

test('given a write that ended after the last part, when the entry comes again, then every entry is there once', () => {
  const before = withEntries([], [0, 2, 3, 5].map(entry), 3);
  const wanted = withEntries(before, [entry(1)], 3);
  const [first = []] = before;
  // The last part was written, the first was not: entry 3 is in both.
  const halfway = [first, ...wanted.slice(1)];
  expect(numbers(halfway)).toEqual([
    [0, 2, 3],
    [3, 5],
  ]);
  expect(withEntries(halfway, [entry(1)], 3)).toEqual(wanted);
});

test('entries of one moment are in the order of their aggregate', () => {
  const at = (revision: number): AuditEntry => ({
    ...entry(0),
    id: `${['z', 'y', 'x'][revision]}.0`,
    commit: { subject: 'directory.acme.log', revision, id: 'c' },
  });
  expect(withEntries([], [at(2), at(1)])[0]?.map(({ commit }) => commit.revision)).toEqual([1, 2]);
});

test('a later part is written before an earlier one', () => {
  expect(lastPartFirst(['acme.2026-03-01.2', 'b.2026-03-01.10', 'acme.2026-03-01.0', 'b.2026-03-02.2'])).toEqual([
    ['b.2026-03-01.10'],
    ['acme.2026-03-01.2', 'b.2026-03-02.2'],
    ['acme.2026-03-01.0'],
  ]);
});
