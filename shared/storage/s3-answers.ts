import { ObjectStoreUnavailable } from './object-store.ts';

/** Error for a successful answer that cannot come from a working store: a proxy answered in its place, or the store is faulty. A retry may help. */
export const misread = (what: string, why: string): ObjectStoreUnavailable =>
  new ObjectStoreUnavailable(`the object store did not ${what}: ${why}`);

/** Checks that the answer to a write is that of a store: it names the stored bytes. Throws `ObjectStoreUnavailable`. */
export function requireStored({ ETag }: { ETag?: string | undefined }, what: string): void {
  if (!ETag) throw misread(what, 'its answer does not confirm it (no ETag). A proxy in between may have answered');
}

const mostEmptyPages = 100;

/**
 * Checks each page of a list that has further pages. The returned function gets the last place on a page, undefined for an empty page. Throws
 * `ObjectStoreUnavailable` when a place comes again, or when too many pages in a row are empty: such a list would never end.
 */
export function pageCheck(what: string): (place: string | undefined) => void {
  const places = new Set<string>();
  let empty = 0;
  return (place) => {
    empty = place === undefined ? empty + 1 : 0;
    if (empty > mostEmptyPages) throw misread(what, `it sent ${mostEmptyPages} empty pages of the list`);
    if (place === undefined) return;
    if (places.has(place)) throw misread(what, 'it sent a page of the list again');
    places.add(place);
  };
}
