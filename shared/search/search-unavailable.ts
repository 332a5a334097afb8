/** The search index did not answer in time or cannot be opened. Worth another try later. */
export class SearchUnavailable extends Error {
  override name = 'SearchUnavailable';
}
