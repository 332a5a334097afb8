/** The store did not answer in time or refused the connection. Worth another try later; nothing was half done. */
export class ObjectStoreUnavailable extends Error {
  override name = 'ObjectStoreUnavailable';
}
