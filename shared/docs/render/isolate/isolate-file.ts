import { isolateCss } from './isolate-css.ts';
import { isolateSvg } from './isolate-svg.ts';
import { isolateXml } from './isolate-xml.ts';

/** Larger files of these kinds are not looked at; something that says so takes their place. */
export const maxIsolatedBytes = 4 * 1024 * 1024;

const kinds = new Map([
  ['svg', { isolate: isolateSvg, without: '<svg xmlns="http://www.w3.org/2000/svg"></svg>\n' }],
  [
    'css',
    { isolate: isolateCss, without: '/* Left out: this style sheet is too large, or its brackets do not match. */\n' },
  ],
  ['xml', { isolate: isolateXml, without: '<left-out>This file could run scripts.</left-out>\n' }],
]);

const kindOf = (path: string) => kinds.get(/\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '');

/** Whether a project's file is changed where its scripts are not allowed: others run nothing when a browser opens them. */
export const isIsolated = (path: string): boolean => kindOf(path) !== undefined;

/**
 * A file of a project as it may be where tenants' scripts are not allowed: pictures and XML run nothing and load nothing when they are
 * opened by themselves, and style sheets reach only the content of pages. Give no source for a file that cannot be read. Never throws.
 */
export function isolateFile(path: string, source: Uint8Array | undefined): Uint8Array {
  const kind = kindOf(path);
  if (kind === undefined) throw new Error(`${path} is no file that is isolated`);
  return Buffer.from(isolated(kind.isolate, source) ?? kind.without);
}

function isolated(isolate: (text: string) => string | undefined, source: Uint8Array | undefined): string | undefined {
  if (source === undefined || source.length > maxIsolatedBytes) return undefined;
  try {
    return isolate(new TextDecoder('utf-8', { fatal: true }).decode(source));
  } catch {
    // Not UTF-8, or nested too deep for a parser.
    return undefined;
  }
}
