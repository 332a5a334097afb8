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
 * Days as `yyyy-mm-dd`, both included. `before`: only entries with a smaller order. `having`: only entries whose JSON has all of these texts; their JSON
 * begins with `id`, and they have a `time`.
 */
export type ListRange = {
  firstDay?: string;
  lastDay?: string;
  before?: string | undefined;
  having?: readonly string[] | undefined;
};

/** Entries of a part, newest first. `searched`: the size of a part with a smaller number of entries, because of `having`, and the time of its oldest entry. */
export type ListPart<E> = { entries: E[]; searched?: { bytes: number; oldest: string } };

/**
 * An organization's entries, newest first, part by part: each part is read by its key on demand. A part without matching entries is empty. Entries
 * that are written meanwhile may be missed, but no entry that existed at the beginning.
 */
export async function* partsNewestFirst<E>(
  list: DayList<E>,
  organization: string,
  { firstDay = '', lastDay = '9', before, having }: ListRange,
): AsyncGenerator<ListPart<E>> {
  const days = (await askBus(list.days.get(listDaysKey(organization))))?.document;
  let least = before ?? '9';
  for (const day of listedDays(days).reverse()) {
    if (day < firstDay || day > lastDay || day > least.slice(0, 10)) continue;
    const read: ReadPart<E> = async (part, texts) => {
      const stored = await askBus(list.parts.getText(listPartKey(organization, day, part)));
      if (stored === undefined) return undefined;
      const { revision, text } = stored;
      const found = texts === undefined ? undefined : entriesHaving(text, texts);
      if (found === undefined) return { revision, ...stored.parse() };
      const { oldest, shorter } = found;
      const { entries } = shorter === undefined ? { entries: [] } : stored.parse(shorter);
      return { revision, entries, searched: { bytes: text.length, oldest } };
    };
    for await (const { entries, searched } of partsOfDay(read, list, partCountOf(days, day), least, having)) {
      const left = entries.filter((entry) => list.orderOf(entry) < least).reverse();
      least = left.reduce(
        (smallest, entry) => (list.orderOf(entry) < smallest ? list.orderOf(entry) : smallest),
        least,
      );
      yield { entries: left, ...(searched !== undefined && { searched }) };
    }
  }
}

const headBytes = 1_000;
const entryStart = '{"id":"';

/**
 * The JSON of a part with only the entries that have all texts (`shorter`; undefined if there are none), and the time of its oldest entry, which is the
 * first one. Undefined for a part whose entries do not begin as expected. A string in JSON cannot contain the quotation marks that are searched for. Pure.
 */
function entriesHaving(text: Buffer, texts: readonly string[]): { oldest: string; shorter?: Buffer } | undefined {
  const head = text.toString('latin1', 0, headBytes);
  const oldest = /"time":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"/.exec(head)?.[1];
  if (oldest === undefined || !head.startsWith(`{"entries":[${entryStart}`)) return undefined;
  const [first = '', ...others] = texts;
  const found: string[] = [];
  if (texts.every((each) => text.includes(each)))
    for (let at = text.indexOf(first); at >= 0; ) {
      const start = text.lastIndexOf(entryStart, at);
      const next = text.indexOf(`,${entryStart}`, at);
      const entry = text.toString('utf8', start, next < 0 ? text.length - ']}'.length : next);
      if (others.every((each) => entry.includes(each))) found.push(entry);
      at = next < 0 ? -1 : text.indexOf(first, next);
    }
  return { oldest, ...(found.length > 0 && { shorter: Buffer.from(`{"entries":[${found.join(',')}]}`) }) };
}

type StoredPart<E> = (ListPart<E> & { revision: number }) | undefined;
type ReadPart<E> = (part: number, having?: readonly string[]) => Promise<StoredPart<E>>;

/**
 * The parts of one day, newest first, beginning near `before`. A late entry moves later ones on to the next part, which is written first. So if a
 * part was written after the next one had been read, the next one is read once more to find the entries that have moved into it.
 */
async function* partsOfDay<E>(
  read: ReadPart<E>,
  { orderOf }: DayList<E>,
  partCount: number,
  before: string,
  having?: readonly string[],
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
    let stored = await read(part, having);
    while (later !== undefined && (stored?.revision ?? 0) > later.revision) {
      const again = await read(part + 1, having);
      if (again === undefined || again.revision === later.revision) break;
      later = again;
      yield again;
      stored = await read(part, having);
    }
    later = stored;
    yield stored ?? { entries: [] };
  }
}
