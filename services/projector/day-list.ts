import {
  dateInKey,
  listedDays,
  type ListDaysDocument,
  listDaysKey,
  listPartKey,
  partCountOf,
  withPartCount,
} from '#shared/interfaces/read-models.ts';
import type { DocumentStore } from '#shared/messaging/read-models.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { type Store, updateDocument, WrittenMeanwhile } from './projection.ts';

/** The stores of one list that is kept in parts by day. */
export type DayListStores<E> = { days: Store<ListDaysDocument>; parts: Store<{ entries: E[] }> };

/** The identity and order of a list's entries, and the size of its parts. */
export type DayListKind<E> = {
  /** A text that sorts the entries and begins with their day. Two entries with the same text are the same entry. */
  orderOf: (entry: E) => string;
  /** Returns the form of an entry to keep: the known one or the new one. */
  newer: (known: E, coming: E) => E;
  /** Number of entries of one part, chosen so that a part stays under half a megabyte. */
  size: number;
};

/** Collects the entries of a batch, and writes them by day at its end. */
export type DayList<E> = {
  add(organization: string, entry: E): void;
  /**
   * `onDay` gets the possibly changed part of each day that was written, in whole blocks of `blockParts` parts, by default the whole day; without it
   * only the changed parts are read.
   */
  write(onDay?: OnDay<E>, blockParts?: number): Promise<void>;
};

/** Called before the entries of a day are read. The returned function is called when they are written. */
type OnDay<E> = (organization: string, day: string) => Promise<(written: WrittenDay<E>) => Promise<void>>;

/** The parts of a written day, beginning with part `first`. `earlier` reads a part before it. */
export type WrittenDay<E> = {
  first: number;
  parts: readonly E[][];
  earlier: (part: number) => Promise<readonly E[]>;
};

const organizationsAtOnce = 32;

/**
 * A list that is kept in parts by day. Entries may come in any order and more than once: the parts depend on the set of entries alone. The stores
 * must be written with `days` first, and later parts before earlier ones (`lastPartFirst`).
 */
export function dayList<E>(stores: DayListStores<E>, kind: DayListKind<E>): DayList<E> {
  const waiting = new Map<string, Map<string, E[]>>();
  return {
    add(organization, entry) {
      const day = kind.orderOf(entry).slice(0, 10);
      const ofOrganization = waiting.get(organization) ?? new Map<string, E[]>();
      waiting.set(organization, ofOrganization);
      const added = ofOrganization.get(day) ?? [];
      ofOrganization.set(day, added);
      added.push(entry);
    },
    async write(onDay, blockParts = Infinity) {
      // The days of an organization share a document, so they are written in turn.
      await inParallel([...waiting], organizationsAtOnce, async ([organization, byDay]) => {
        for (const [day, added] of byDay) {
          const written = await onDay?.(organization, day);
          const of = { organization, day };
          const { first, parts } = await addToDay(stores, kind, of, added, written === undefined ? 1 : blockParts);
          const earlier = async (part: number) => (await readPart(stores, of, part)).entries;
          await written?.({ first, parts, earlier });
        }
      });
      waiting.clear();
    },
  };
}

type Day = { organization: string; day: string };
type Part<E> = { entries: E[]; revision: number };

/** Returns all parts from the beginning of the block with the first change. */
async function addToDay<E>(
  stores: DayListStores<E>,
  kind: DayListKind<E>,
  of: Day,
  added: readonly E[],
  blockParts: number,
): Promise<{ first: number; parts: E[][] }> {
  const days = await stores.days.get(listDaysKey(of.organization));
  const partCount = partCountOf(days?.document, of.day);
  const before = blockParts === Infinity ? 0 : await partBefore(stores, kind, of, partCount, leastOrder(added, kind));
  const first = blockParts === Infinity ? 0 : before - (before % blockParts);
  const stored: Part<E>[] = [];
  let entryCount = added.length;
  // Parts that are about to be written are read too, because a killed process may have left some.
  while (first + stored.length < partCount || stored.length * kind.size < entryCount) {
    const part = await readPart(stores, of, first + stored.length);
    stored.push(part);
    entryCount += part.entries.length;
  }
  const parts = withEntries(
    stored.map(({ entries }) => entries),
    added,
    kind,
  );
  await setPartCount(stores, of, Math.max(partCount, first + parts.length));
  for (const [index, entries] of parts.entries()) {
    const { entries: known, revision = 0 } = stored[index] ?? {};
    if (known !== entries) await writePart(stores, of, first + index, entries, revision);
  }
  return { first, parts };
}

async function readPart<E>({ parts }: DayListStores<E>, { organization, day }: Day, part: number): Promise<Part<E>> {
  const stored = await parts.get(listPartKey(organization, day, part));
  return { entries: stored?.document.entries ?? [], revision: stored?.revision ?? 0 };
}

async function writePart<E>(
  { parts }: DayListStores<E>,
  { organization, day }: Day,
  part: number,
  entries: E[],
  expectedRevision: number,
): Promise<void> {
  const key = listPartKey(organization, day, part);
  if ((await parts.put(key, { entries }, { expectedRevision })) === undefined) throw new WrittenMeanwhile(key);
}

async function setPartCount<E>({ days }: DayListStores<E>, { organization, day }: Day, count: number): Promise<void> {
  await updateDocument(days, listDaysKey(organization), (document) =>
    partCountOf(document, day) === count ? undefined : withPartCount(document, day, count),
  );
}

const leastOrder = <E>(entries: readonly E[], { orderOf }: DayListKind<E>): string =>
  entries.map(orderOf).reduce((least, order) => (order < least ? order : least), '\uffff');

/** The part that contains or should contain an entry of that order, found by a binary search that reads few parts. */
async function partBefore<E>(
  stores: DayListStores<E>,
  { orderOf }: DayListKind<E>,
  of: Day,
  partCount: number,
  order: string,
): Promise<number> {
  let [first, end] = [0, partCount];
  while (end - first > 1) {
    const middle = Math.floor((first + end) / 2);
    const [least] = (await readPart(stores, of, middle)).entries;
    // A process was killed while it wrote this part, so all parts are read.
    if (least === undefined) return 0;
    if (orderOf(least) <= order) first = middle;
    else end = middle;
  }
  return first;
}

/**
 * The parts of a day with some more entries, in any order, new or known: entry n of the day is in part n / `size`, so the parts depend on the set of
 * entries alone. An unchanged part is the same array. Pure.
 */
export function withEntries<E>(parts: readonly E[][], added: readonly E[], kind: DayListKind<E>): E[][] {
  const { orderOf, newer, size } = kind;
  const untouched = untouchedCount(parts, added, kind);
  const byOrder = new Map<string, E>();
  for (const entry of parts.slice(untouched).flat()) {
    if (!byOrder.has(orderOf(entry))) byOrder.set(orderOf(entry), entry);
  }
  for (const entry of added) {
    const order = orderOf(entry);
    const known = byOrder.get(order);
    byOrder.set(order, known === undefined ? entry : newer(known, entry));
  }
  const sorted = [...byOrder].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
  const cut = parts.slice(0, untouched);
  for (let start = 0; start < sorted.length; start += size) {
    const next = sorted.slice(start, start + size);
    const before = parts[cut.length];
    cut.push(before !== undefined && hasSame(before, next) ? before : next);
  }
  return cut;
}

/** Number of parts at the beginning that are full and precede every new entry: mostly all but the last. */
function untouchedCount<E>(parts: readonly E[][], added: readonly E[], kind: DayListKind<E>): number {
  const { orderOf, size } = kind;
  const first = leastOrder(added, kind);
  let count = 0;
  for (;;) {
    const last = parts[count]?.at(-1);
    const next = parts[count + 1]?.[0];
    if (last === undefined || next === undefined || parts[count]?.length !== size) return count;
    // A process that was killed between two writes left an entry in both parts, so all parts from here on are written again.
    if (orderOf(last) >= orderOf(next) || orderOf(next) > first) return count;
    count += 1;
  }
}

const hasSame = <E>(one: readonly E[], other: readonly E[]): boolean =>
  one.length === other.length && one.every((entry, index) => entry === other[index]);

/**
 * Keys of parts in the order of writing: a later part before an earlier one. An entry that moves to the next part is then in both for a moment and
 * never in neither, even if writing stops halfway. Pure.
 */
export function lastPartFirst(keys: readonly string[]): string[][] {
  const byPart = Map.groupBy(keys, (key) => Number(key.slice(key.lastIndexOf('.') + 1)));
  return [...byPart].sort(([a], [b]) => b - a).map(([, round]) => round);
}

/** The stores of a list with all operations of a bucket. */
export type WholeDayList<E> = {
  days: DocumentStore<ListDaysDocument>;
  parts: DocumentStore<{ entries: E[] }>;
};

/**
 * Removes entries from a day: `keep` gets all and returns those that stay. They move up to fill the parts. Earlier parts are written first, then
 * those at the end are removed, then the count is written, so that each entry is in some part at every moment. It can be stopped anywhere and
 * repeated. Throws `WrittenMeanwhile`.
 */
export async function keepInDay<E>(
  list: WholeDayList<E>,
  kind: DayListKind<E>,
  of: Day,
  keep: (entries: readonly E[]) => Promise<readonly E[]>,
): Promise<void> {
  const daysKey = listDaysKey(of.organization);
  const days = await list.days.get(daysKey, { fromLeader: true });
  const partCount = partCountOf(days?.document, of.day);
  const parts: Store<{ entries: E[] }> = { ...list.parts, get: (key) => list.parts.get(key, { fromLeader: true }) };
  const stored: Part<E>[] = [];
  while (stored.length < partCount) stored.push(await readPart({ ...list, parts }, of, stored.length));
  const kept = withEntries([], await keep(stored.flatMap(({ entries }) => entries)), kind);
  for (const [index, entries] of kept.entries()) {
    const { entries: before = [], revision = 0 } = stored[index] ?? {};
    if (!hasSame(before, entries)) await writePart({ ...list, parts }, of, index, entries, revision);
  }
  if (kept.length >= partCount) return;
  for (const [index, { revision }] of stored.entries()) {
    if (index < kept.length || revision === 0) continue;
    const key = listPartKey(of.organization, of.day, index);
    if (!(await list.parts.remove(key, { expectedRevision: revision }))) throw new WrittenMeanwhile(key);
  }
  await putDays(list, daysKey, withPartCount(days?.document, of.day, kept.length), days?.revision ?? 0);
}

/** A list without entries has no document, as if it had never had any. */
async function putDays<E>(
  { days }: WholeDayList<E>,
  key: string,
  document: ListDaysDocument,
  expectedRevision: number,
): Promise<void> {
  const isEmpty = listedDays(document).length === 0;
  const done = isEmpty
    ? await days.remove(key, { expectedRevision })
    : (await days.put(key, document, { expectedRevision })) !== undefined;
  if (!done) throw new WrittenMeanwhile(key);
}

/** Removes the days before `firstDay` (`yyyy-mm-dd`) from a list, for all organizations. Throws `WrittenMeanwhile`. */
export async function removeDaysBefore<E>(list: WholeDayList<E>, firstDay: string): Promise<void> {
  for (const key of await list.parts.keys()) if (dateInKey(key) < firstDay) await list.parts.remove(key);
  for (const key of await list.days.keys()) {
    const stored = await list.days.get(key, { fromLeader: true });
    if (stored === undefined) continue;
    const kept = withoutDaysBefore(stored.document, firstDay);
    if (kept !== stored.document) await putDays(list, key, kept, stored.revision);
  }
}

function withoutDaysBefore(document: ListDaysDocument, firstDay: string): ListDaysDocument {
  let kept = document;
  for (const day of listedDays(document)) if (day < firstDay) kept = withPartCount(kept, day, 0);
  return kept;
}
