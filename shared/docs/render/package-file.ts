/**
 * Address of a file of a package that this one depends on, such as `katex/dist/katex.min.css`. The address is also right in bundled modules. Packages
 * that are named in this way are part of the renderer version.
 */
export const packageFile = (path: string): URL => new URL(`../../../node_modules/${path}`, import.meta.url);
