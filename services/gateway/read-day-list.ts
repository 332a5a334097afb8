import {
  type ListDaysDocument,
  listDaysKey,
  listedDays,
  listPartKey,
  partCountOf,
} from '#shared/contracts/read-models.ts';
import type { DocumentStore } from '#shared/messaging/read-models.ts';
import { askBus } from './ask-bus.ts';

/** A list that is kept in parts by day, as it is read. */
export type DayList<E> = {
  days: Pick<DocumentStore<ListDaysDocument>, 'get'>;
  parts: Pick<DocumentStore<{ entries: E[] }>, 'get'>;
  /** A text that sorts the entries and begins with their day. */
  orderOf: (entry: E) => string;
};

/** A request looks at no more entries than this, however rare what it searches for is. Its answer then has fewer and a cursor. */
export const mostRead = 20_000;

/** What a part counts: its entries, and no less than the reading costs. */
export const readCost = (entries: readonly unknown[]): number => Math.max(50, entries.length);

/** Days as `yyyy-mm-dd`, both included. `before`: only entries whose order is smaller. */
export type ListRange = { firstDay?: string; lastDay?: string; before?: string | undefined };

/**
 * An organization's entries, newest first, part by part: each part is read by its key when it is wanted. A part in which nothing is left is
 * empty. Entries that are written meanwhile may be missed, but none that was there from the beginning.
 */
export async function* partsNewestFirst<E>(
  list: DayList<E>,
  organization: string,
  { firstDay = '', lastDay = '9', before }: ListRange,
): AsyncGenerator<E[]> {
  const days = (await askBus(list.days.get(listDaysKey(organization))))?.document;
  let least = before ?? '9';
  for (const day of listedDays(days).reverse()) {
    if (day < firstDay || day > lastDay || day > least.slice(0, 10)) continue;
    const read = (part: number) => askBus(list.parts.get(listPartKey(organization, day, part)));
    for await (const entries of partsOfDay(read, list, partCountOf(days, day), least)) {
      const left = entries.filter((entry) => list.orderOf(entry) < least).reverse();
      least = left.reduce(
        (smallest, entry) => (list.orderOf(entry) < smallest ? list.orderOf(entry) : smallest),
        least,
      );
      yield left;
    }
  }
}

type StoredPart<E> = { document: { entries: E[] }; revision: number } | undefined;

/**
 * The parts of one day, newest first, beginning near `before`. A late entry moves later ones on to the next part, which is written first.
 * So when a part was written after the one behind it had been read, that one is read once more: what has moved into it is not missed.
 */
async function* partsOfDay<E>(
  read: (part: number) => Promise<StoredPart<E>>,
  { orderOf }: DayList<E>,
  partCount: number,
  before: string,
): AsyncGenerator<E[]> {
  let [first, end] = [0, partCount];
  // The last part that begins before `before` has the next entries; one later, in case that they move just now.
  while (end - first > 1) {
    const middle = Math.floor((first + end) / 2);
    const [oldest] = (await read(middle))?.document.entries ?? [];
    if (oldest === undefined || orderOf(oldest) < before) first = middle;
    else end = middle;
  }
  let later: StoredPart<E>;
  for (let part = Math.min(first + 1, partCount - 1); part >= 0; part -= 1) {
    let stored = await read(part);
    while (later !== undefined && (stored?.revision ?? 0) > later.revision) {
      const again = await read(part + 1);
      if (again === undefined || again.revision === later.revision) break;
      later = again;
      yield again.document.entries;
      stored = await read(part);
    }
    later = stored;
    yield stored?.document.entries ?? [];
  }
}
