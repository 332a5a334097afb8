import { satteriPageParser } from '#shared/docs/project/satteri-page-parser.ts';
import { serveChild } from '#shared/docs/sandbox/child-server.ts';

/** Parses one source after the other, as a renderer's child does, and returns the observable result. */
serveChild(async (request) => {
  const { bytes, file } = request as { bytes: Uint8Array; file: string };
  const { tree, ...page } = satteriPageParser.parse(bytes, file);
  const polluted = Object.keys(Object.prototype).length + Object.keys(Array.prototype).length;
  return { ...page, tree: JSON.stringify(tree, bigIntAsText), polluted };
});

const bigIntAsText = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);
