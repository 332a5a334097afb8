import { isolateCss } from './isolate-css.ts';
import { isolateSvg } from './isolate-svg.ts';
import { type IsolatedType, isolatedTypeOf, maxIsolatedBytes } from './isolated-types.ts';
import { isolateXml } from './isolate-xml.ts';

const kinds: Readonly<Record<IsolatedType, { isolate: (text: string) => string | undefined; without: string }>> = {
  svg: { isolate: isolateSvg, without: '<svg xmlns="http://www.w3.org/2000/svg"></svg>\n' },
  css: {
    isolate: isolateCss,
    without: '/* Left out: this style sheet is too large, or its brackets do not match. */\n',
  },
  xml: { isolate: isolateXml, without: '<left-out>This file could run scripts.</left-out>\n' },
};

/**
 * Rewrites a file of a project for exports in which tenants' scripts are not allowed: pictures and XML then run and load nothing when they are opened
 * directly, and style sheets apply only to the content of pages. Without a source, for a file that cannot be read, it returns a placeholder. Throws
 * only for file types that are not isolated.
 */
export function isolateFile(path: string, source: Uint8Array | undefined): Uint8Array {
  const type = isolatedTypeOf(path);
  if (type === undefined) throw new Error(`${path} is not of a file type that is isolated`);
  const kind = kinds[type];
  return Buffer.from(isolated(kind.isolate, source) ?? kind.without);
}

function isolated(isolate: (text: string) => string | undefined, source: Uint8Array | undefined): string | undefined {
  if (source === undefined || source.length > maxIsolatedBytes) return undefined;
  try {
    return isolate(new TextDecoder('utf-8', { fatal: true }).decode(source));
  } catch {
    // The file is not UTF-8, or nested too deep for a parser.
    return undefined;
  }
}
