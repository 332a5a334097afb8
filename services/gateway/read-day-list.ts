import {
  type ListDaysDocument,
  listDaysKey,
  listedDays,
  listPartKey,
  partCountOf,
} from '#shared/interfaces/read-models.ts';
import type { DocumentStore } from '#shared/messaging/read-models.ts';
import { askBus } from './ask-bus.ts';

/** A list that is stored in parts by day. */
export type DayList<E> = {
  days: Pick<DocumentStore<ListDaysDocument>, 'get'>;
  parts: Pick<DocumentStore<{ entries: E[] }>, 'getText'>;
  /** The sort key of an entry, which begins with its day. */
  orderOf: (entry: E) => string;
};

/** Limit of entries that a request reads, even if few match. Its answer then has fewer, with a cursor. */
export const mostRead = 20_000;

/** Cost of reading a part: the number of its entries, with a minimum for the read. */
export const readCost = (entries: readonly unknown[]): number => Math.max(50, entries.length);

/**
 * Days as `yyyy-mm-dd`, both included. `before`: only entries with a smaller order. `mayHave`: false for the JSON of a part that has no entry that the caller
 * looks for.
 */
export type ListRange = {
  firstDay?: string;
  lastDay?: string;
  before?: string | undefined;
  mayHave?: ((text: Buffer) => boolean) | undefined;
};

/** Entries of a part, newest first. `skippedTo`: the time of the oldest entry of a part that was not parsed, because `mayHave` was false. */
export type ListPart<E> = { entries: E[]; skippedTo?: string };

/**
 * An organization's entries, newest first, part by part: each part is read by its key on demand. A part without matching entries is empty. Entries
 * that are written meanwhile may be missed, but no entry that existed at the beginning.
 */
export async function* partsNewestFirst<E>(
  list: DayList<E>,
  organization: string,
  { firstDay = '', lastDay = '9', before, mayHave }: ListRange,
): AsyncGenerator<ListPart<E>> {
  const days = (await askBus(list.days.get(listDaysKey(organization))))?.document;
  let least = before ?? '9';
  for (const day of listedDays(days).reverse()) {
    if (day < firstDay || day > lastDay || day > least.slice(0, 10)) continue;
    const read: ReadPart<E> = async (part, isWanted = () => true) => {
      const stored = await askBus(list.parts.getText(listPartKey(organization, day, part)));
      if (stored === undefined) return undefined;
      const { revision, text } = stored;
      const skippedTo = isWanted(text) ? undefined : oldestTimeIn(text);
      return skippedTo === undefined ? { revision, ...stored.parse() } : { revision, entries: [], skippedTo };
    };
    for await (const { entries, skippedTo } of partsOfDay(read, list, partCountOf(days, day), least, mayHave)) {
      if (skippedTo !== undefined) {
        yield { entries: [], skippedTo };
        continue;
      }
      const left = entries.filter((entry) => list.orderOf(entry) < least).reverse();
      least = left.reduce(
        (smallest, entry) => (list.orderOf(entry) < smallest ? list.orderOf(entry) : smallest),
        least,
      );
      yield { entries: left };
    }
  }
}

/** The time of the first entry in the JSON of a part, which is the oldest one. A string in JSON cannot contain these quotation marks. */
const oldestTimeIn = (text: Buffer): string | undefined =>
  /"time":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"/.exec(text.toString('latin1', 0, headBytes))?.[1];

const headBytes = 1_000;

type StoredPart<E> = (ListPart<E> & { revision: number }) | undefined;
type ReadPart<E> = (part: number, isWanted?: (text: Buffer) => boolean) => Promise<StoredPart<E>>;

/**
 * The parts of one day, newest first, beginning near `before`. A late entry moves later ones on to the next part, which is written first. So if a
 * part was written after the next one had been read, the next one is read once more to find the entries that have moved into it.
 */
async function* partsOfDay<E>(
  read: ReadPart<E>,
  { orderOf }: DayList<E>,
  partCount: number,
  before: string,
  mayHave?: (text: Buffer) => boolean,
): AsyncGenerator<ListPart<E>> {
  let [first, end] = [0, partCount];
  // The last part that begins before `before` has the next entries; the search starts one part later, in case entries move at this moment.
  while (end - first > 1) {
    const middle = Math.floor((first + end) / 2);
    const [oldest] = (await read(middle))?.entries ?? [];
    if (oldest === undefined || orderOf(oldest) < before) first = middle;
    else end = middle;
  }
  let later: StoredPart<E>;
  for (let part = Math.min(first + 1, partCount - 1); part >= 0; part -= 1) {
    let stored = await read(part, mayHave);
    while (later !== undefined && (stored?.revision ?? 0) > later.revision) {
      const again = await read(part + 1, mayHave);
      if (again === undefined || again.revision === later.revision) break;
      later = again;
      yield again;
      stored = await read(part, mayHave);
    }
    later = stored;
    yield stored ?? { entries: [] };
  }
}
