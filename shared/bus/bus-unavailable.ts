/** The bus did not answer in time. Worth another try later; a guarded append that got through all the same is recognized then. */
export class BusUnavailable extends Error {
  override name = 'BusUnavailable';
}
