import { expect, test } from 'vitest';
import { type ListDaysDocument, listPartKey, withPartCount } from '#shared/interfaces/read-models.ts';
import { memoryDocuments } from '../../test/support/memory-documents.ts';
import { partsNewestFirst } from './read-day-list.ts';

type Entry = { order: string };
const day = '2026-03-01';
const entry = (n: number): Entry => ({ order: `${day} ${String(n).padStart(4, '0')}` });
const entries = (...numbers: number[]): Entry[] => numbers.map(entry);

/** A list with these parts of one day, and the number of parts read from it. */
async function listOf(...parts: Entry[][]) {
  const days = memoryDocuments<ListDaysDocument>(async () => {});
  const stored = memoryDocuments<{ entries: Entry[] }>(async () => {});
  const put = (part: number, changed: Entry[]) => stored.put(listPartKey('acme', day, part), { entries: changed });
  await days.put('acme', withPartCount(undefined, day, parts.length));
  for (const [part, each] of parts.entries()) await put(part, each);
  const list = {
    days,
    reads: 0,
    /** Called before a part is read. */
    onRead: async (_part: number) => {},
    put,
    orderOf: ({ order }: Entry) => order,
    parts: {
      getText: async (key: string) => {
        list.reads += 1;
        await list.onRead(Number(key.split('.').at(-1)));
        return stored.getText(key);
      },
    },
  };
  return list;
}

async function read(list: Awaited<ReturnType<typeof listOf>>, before?: string): Promise<string[]> {
  const found: string[] = [];
  for await (const part of partsNewestFirst(list, 'acme', { before })) {
    found.push(...part.entries.map(({ order }) => order.slice(-4).replace(/^0+/, '')));
  }
  return found;
}

test('given three parts, then all entries, newest first, each part read once', async () => {
  const list = await listOf(entries(1, 2), entries(3, 4), entries(5));
  expect(await read(list)).toEqual(['5', '4', '3', '2', '1']);
  expect(list.reads).toBeLessThanOrEqual(5);
});

test('given many parts, when reading goes on in the middle, then parts behind it are not read', async () => {
  const list = await listOf(...Array.from({ length: 64 }, (_, part) => entries(part * 2 + 1, part * 2 + 2)));
  const parts = partsNewestFirst(list, 'acme', { before: entry(10).order });
  const found: Entry[] = [];
  while (found.length < 4) found.push(...((await parts.next()).value as { entries: Entry[] }).entries);
  expect(found.slice(0, 4)).toEqual(entries(9, 8, 7, 6));
  expect(list.reads).toBeLessThan(14);
});

test('given a late entry, when it moves others on between two reads, then none is missed and none comes twice', async () => {
  const list = await listOf(entries(1, 2, 4), entries(5, 6, 7), entries(8));
  list.onRead = async (part) => {
    // The last part and the one before were read. Entry 3 arrives, and later entries move to the next part, the last part first.
    if (part !== 0) return;
    list.onRead = async () => {};
    await list.put(2, entries(7, 8));
    await list.put(1, entries(4, 5, 6));
    await list.put(0, entries(1, 2, 3));
  };
  expect(await read(list)).toEqual(['8', '7', '6', '5', '4', '3', '2', '1']);
});

test('a part that is counted and not written yet is empty', async () => {
  const list = await listOf(entries(1, 2), entries(3));
  await list.days.put('acme', withPartCount(undefined, day, 4));
  expect(await read(list)).toEqual(['3', '2', '1']);
  expect(await read(await listOf())).toEqual([]);
});

test('only entries whose text has what is looked for are parsed, and a part names the time of its oldest entry', async () => {
  type Named = { id: string; time: string; name: string };
  const days = memoryDocuments<ListDaysDocument>(async () => {});
  const stored = memoryDocuments<{ entries: Named[] }>(async () => {});
  const named = (hour: number, name: string): Named => {
    const time = `${day}T${String(hour).padStart(2, '0')}:00:00.000Z`;
    return { id: `e${hour}`, time, name };
  };
  // A name that looks like an entry is a text in JSON.
  const odd = '","x":[{"id":"e9","name":"one"}]';
  const parts = [
    [named(0, 'one'), named(1, odd), named(2, 'one')],
    [named(3, 'two'), named(4, 'two')],
    [named(5, 'two'), named(6, 'one')],
  ];
  await days.put('acme', withPartCount(undefined, day, parts.length));
  for (const [part, entries] of parts.entries()) await stored.put(listPartKey('acme', day, part), { entries });
  const list = { days, orderOf: ({ time }: Named) => time, parts: stored };
  const found = [];
  for await (const { entries, searched } of partsNewestFirst(list, 'acme', { having: ['"name":"one"'] }))
    found.push([searched?.oldest.slice(11, 13), ...entries.map(({ id }) => id)]);
  expect(found).toEqual([['05', 'e6'], ['03'], ['00', 'e2', 'e0']]);
});
