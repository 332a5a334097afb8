/**
 * Address of a file of a package that this one depends on, such as `katex/dist/katex.min.css`. Bundled modules keep the address. Packages that are
 * named here count in the renderer version.
 */
export const packageFile = (path: string): URL => new URL(`../../../node_modules/${path}`, import.meta.url);
