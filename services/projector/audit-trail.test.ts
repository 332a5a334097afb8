import { beforeEach, expect, test } from 'vitest';
import type { AuditEntry } from '#shared/contracts/audit-entry.ts';
import {
  type AuditDocument,
  type ListDaysDocument,
  listPartKey,
  type UsageDocument,
  usageKey,
} from '#shared/interfaces/read-models.ts';
import { accessRecord, testAuditKey } from '../../test/support/make-commit.ts';
import { type MemoryDocuments, memoryDocuments } from '../../test/support/memory-documents.ts';
import { accessAuditEntry } from '#shared/messaging/log/access-audit.ts';
import { expireAccess } from './access-projection.ts';
import { auditTrail, entriesPerPart } from './audit-trail.ts';
import { bufferedStore } from './buffered-store.ts';
import { lastPartFirst } from './day-list.ts';
import { WrittenMeanwhile } from './projection.ts';

let auditAccess: MemoryDocuments<AuditDocument>;
let auditAccessDays: MemoryDocuments<ListDaysDocument>;
let usageAccess: MemoryDocuments<UsageDocument>;
/** Number of writes until the projector dies. */
let writesLeft: number;

beforeEach(() => {
  auditAccess = memoryDocuments(async () => {});
  auditAccessDays = memoryDocuments(async () => {});
  usageAccess = memoryDocuments(async () => {});
  writesLeft = Infinity;
});

/** A link that was signed at a second of the first of March, or of another day. */
const link = (second: number, day = '2026-03-01'): AuditEntry =>
  accessAuditEntry(
    accessRecord({
      id: `al_${day}-${second}`,
      time: new Date(Date.parse(`${day}T00:00:00.000Z`) + second * 1_000).toISOString(),
    }),
    testAuditKey,
  );

/** Folds a batch as the projector does. */
async function fold(...entries: AuditEntry[]): Promise<void> {
  const mortal = <T>(store: MemoryDocuments<T>): MemoryDocuments<T> => ({
    ...store,
    put: async (...parameters) => {
      if (writesLeft === 0) throw new Error('killed');
      writesLeft -= 1;
      return store.put(...parameters);
    },
  });
  const audit = bufferedStore(mortal(auditAccess), { rounds: lastPartFirst });
  const usage = bufferedStore(mortal(usageAccess));
  const counts = bufferedStore(mortal(auditAccessDays));
  const trail = auditTrail({ days: counts, parts: audit }, usage);
  trail.add('acme', entries);
  await trail.write();
  await counts.flush();
  await audit.flush();
  await usage.flush();
}

const part = async (number: number, day = '2026-03-01') =>
  (await auditAccess.get(listPartKey('acme', day, number)))?.document.entries.map(({ id }) => id);
const days = async (month = '2026-03') => (await usageAccess.get(usageKey('acme', month)))?.document.days;
const parts = async () => (await usageAccess.get(usageKey('acme', '2026-03')))?.document.parts?.['01'];
const ids = (...entries: AuditEntry[]) => entries.map(({ id }) => id);
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => link(from + index));

test('given links of two days, then a document each, and both days counted', async () => {
  await fold(link(2, '2026-03-02'), link(1), link(0));
  expect(await part(0)).toEqual(ids(link(0), link(1)));
  expect(await part(0, '2026-03-02')).toEqual(ids(link(2, '2026-03-02')));
  expect(await days()).toEqual({ '01': { linksSigned: 2 }, '02': { linksSigned: 1 } });
});

test('given what was folded, when it is delivered again, then it counts once', async () => {
  await fold(link(0), link(1));
  await fold(link(1), link(0), link(1));
  expect(await part(0)).toEqual(ids(link(0), link(1)));
  expect(await days()).toEqual({ '01': { linksSigned: 2 } });
});

test('given a day that is too long for a document, then it has several, and is counted whole', async () => {
  const all = range(0, entriesPerPart + 2);
  await fold(...all.slice(1));
  await fold(all[0] as AuditEntry);
  expect(await part(0)).toEqual(ids(...all.slice(0, entriesPerPart)));
  expect(await part(1)).toEqual(ids(...all.slice(entriesPerPart)));
  expect(await part(2)).toBeUndefined();
  expect(await days()).toEqual({ '01': { linksSigned: entriesPerPart + 2 } });
});

test('given a crash between any two writes, when the batch comes again, then nothing is lost or counted twice', async () => {
  const all = range(0, entriesPerPart * 2 + 1);
  const late = all[1] as AuditEntry;
  const before = all.filter((entry) => entry !== late);
  for (let survived = 0; survived < 4; survived += 1) {
    auditAccess = memoryDocuments(async () => {});
    auditAccessDays = memoryDocuments(async () => {});
    usageAccess = memoryDocuments(async () => {});
    writesLeft = Infinity;
    await fold(...before);
    writesLeft = survived;
    // One entry in the first part moves one to each of the others: three documents are written, then the figures.
    await expect(fold(late)).rejects.toThrow('killed');
    const seen = new Set([...((await part(0)) ?? []), ...((await part(1)) ?? []), ...((await part(2)) ?? [])]);
    for (const { id } of before) expect(seen).toContain(id);
    writesLeft = Infinity;
    await fold(late);
    expect([await part(0), await part(1), await part(2)].flat()).toEqual(ids(...all));
    expect(await days()).toEqual({ '01': { linksSigned: all.length } });
  }
});

test('given a crash before the first part of a new day, when the batch comes again, whole or in pieces, then all is there', async () => {
  const all = range(0, entriesPerPart * 2 + 1);
  for (const pieces of [[all], [all.slice(0, 300), all.slice(300)], [all.slice(600), all.slice(0, 600)]]) {
    auditAccess = memoryDocuments(async () => {});
    auditAccessDays = memoryDocuments(async () => {});
    usageAccess = memoryDocuments(async () => {});
    writesLeft = 3;
    await expect(fold(...all)).rejects.toThrow('killed');
    expect(await part(0)).toBeUndefined();
    writesLeft = Infinity;
    for (const piece of pieces) await fold(...piece);
    expect([await part(0), await part(1), await part(2)].flat()).toEqual(ids(...all));
    expect(await days()).toEqual({ '01': { linksSigned: all.length } });
  }
});

test('given a long day, when a link is added, then only its last part is read and counted, and a late one counts, too', async () => {
  const all = range(0, entriesPerPart * 6);
  const late = all[entriesPerPart * 2 + 3] as AuditEntry;
  const early = all.filter((entry) => entry !== late);
  await fold(...early);
  let read: string[] = [];
  const stored = auditAccess;
  auditAccess = {
    ...stored,
    get: async (key, ...options) => {
      read.push(key);
      return stored.get(key, ...options);
    },
  };
  const next = link(entriesPerPart * 6);
  await fold(next);
  // The binary search reads some, too.
  expect(read.length).toBeLessThan(5);
  expect(await days()).toEqual({ '01': { linksSigned: all.length } });
  expect(await parts()).toEqual([...Array.from({ length: 6 }, () => ({ linksSigned: entriesPerPart }))]);
  await fold(next);
  expect(await days()).toEqual({ '01': { linksSigned: all.length } });
  read = [];
  await fold(late, next);
  expect(read).not.toContain(listPartKey('acme', '2026-03-01', 0));
  expect(await days()).toEqual({ '01': { linksSigned: all.length + 1 } });
  expect((await parts())?.at(-1)).toEqual({ linksSigned: 1 });
});

test('given a month of long days, then only the newest two and short ones keep figures of parts, in any order, and late links count', async () => {
  const long = entriesPerPart * 8 + 1;
  const dayOf = (number: number) => `2026-03-0${number}`;
  const whole = (number: number, count = long) => Array.from({ length: count }, (_, at) => link(at, dayOf(number)));
  const batches = [whole(1, 3), whole(2), whole(3), whole(4), whole(5)];
  const document = async () => (await usageAccess.get(usageKey('acme', '2026-03')))?.document;
  const linksSigned = long;
  for (const batch of batches) await fold(...batch);
  const inOrder = await document();
  expect(inOrder?.days).toEqual({
    '01': { linksSigned: 3 },
    ...Object.fromEntries(['02', '03', '04', '05'].map((day) => [day, { linksSigned }])),
  });
  expect(Object.keys(inOrder?.parts ?? {}).toSorted()).toEqual(['01', '04', '05']);
  await fold(link(long, dayOf(2)));
  expect(await document()).toEqual({ ...inOrder, days: { ...inOrder?.days, '02': { linksSigned: long + 1 } } });
  for (const store of [auditAccess, auditAccessDays, usageAccess])
    for (const key of await store.keys()) await store.remove(key);
  for (const batch of batches.toReversed()) await fold(...batch);
  expect(await document()).toEqual(inOrder);
});

test('given figures of a program that did not count parts, when a link is added, then the day is counted whole once', async () => {
  const all = range(0, entriesPerPart * 2);
  await fold(...all);
  await usageAccess.put(usageKey('acme', '2026-03'), { days: { '01': { linksSigned: 7 }, '02': { linksSigned: 3 } } });
  await fold(link(entriesPerPart * 2));
  expect(await days()).toEqual({ '01': { linksSigned: all.length + 1 }, '02': { linksSigned: 3 } });
});

test('given two projectors at once, then the one that knows less is refused, and later both are counted', async () => {
  await fold(link(0));
  const slow = { audit: bufferedStore(auditAccess, { rounds: lastPartFirst }), usage: bufferedStore(usageAccess) };
  const trail = auditTrail({ days: bufferedStore(auditAccessDays), parts: slow.audit }, slow.usage);
  trail.add('acme', [link(1)]);
  await trail.write();
  await fold(link(2));
  await expect(slow.audit.flush()).rejects.toThrow(WrittenMeanwhile);
  await expect(slow.usage.flush()).rejects.toThrow(WrittenMeanwhile);
  await fold(link(1));
  expect(await part(0)).toEqual(ids(link(0), link(1), link(2)));
  expect(await days()).toEqual({ '01': { linksSigned: 3 } });
});

test('given links of 400 days, when a day begins, then those of the first day go, and their figures', async () => {
  await fold(link(0, '2025-01-25'), link(0, '2025-01-26'), link(0, '2024-12-31'), link(0));
  const models = { auditAccess, auditAccessDays, usageAccess };
  await expireAccess(models, new Date('2026-02-28T23:59:59.999Z'));
  expect(await auditAccess.keys()).toHaveLength(3);
  expect(await usageAccess.keys()).toHaveLength(2);
  expect(await days('2025-01')).toEqual({ '25': { linksSigned: 1 }, '26': { linksSigned: 1 } });
  await expireAccess(models, new Date('2026-03-01T00:00:00.000Z'));
  expect(await part(0, '2025-01-25')).toBeUndefined();
  expect((await auditAccessDays.get('acme'))?.document).toEqual({
    months: { '2025-01': { '26': 1 }, '2026-03': { '01': 1 } },
  });
  expect(await days('2025-01')).toEqual({ '26': { linksSigned: 1 } });
  await expireAccess(models, new Date('2026-03-02T00:00:00.000Z'));
  expect(await days('2025-01')).toBeUndefined();
  expect(await days()).toEqual({ '01': { linksSigned: 1 } });
});
