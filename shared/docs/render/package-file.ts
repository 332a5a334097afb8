/**
 * Address of a file of a package that this one depends on, such as `katex/dist/katex.min.css`. Modules that are bundled keep it. The renderer
 * version counts packages that are named so.
 */
export const packageFile = (path: string): URL => new URL(`../../../node_modules/${path}`, import.meta.url);
