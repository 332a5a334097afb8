/** A bundle that must not be served, or a link that leads to no bundle. The message says why; retrying the same bundle cannot succeed. */
export class BundleRefused extends Error {
  override name = 'BundleRefused';
}

/** The refusal came before anything was downloaded, so the link may soon be tried again. */
export class LinkRefused extends BundleRefused {
  override name = 'LinkRefused';
}
