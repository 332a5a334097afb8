import { facesIn } from '#shared/docs/project/google-fonts.ts';
import { fontKind } from '#shared/docs/project/read-fonts.ts';
import type { RemoteFormat } from '#shared/docs/reference/remote-files.ts';
import { maxSpecificationBytes } from '#shared/docs/reference/specification-limits.ts';
import { programVersion } from '#shared/runtime/program-version.ts';
import type { PartKind } from './named-parts.ts';

/** The format of a fetched file, which its bytes decide, with its media type. */
export type PartFormat = { extension: RemoteFormat; type: string };

/** Rules for one kind of files at an address. */
type KindRules = {
  /** The words for one in a sentence. */
  name: string;
  /** The effect of its absence, as a sentence. */
  without: string;
  accept: string;
  userAgent: string;
  maxBytes: number;
  /** Content types that are certainly another kind, and the words for the right one. */
  refused: RegExp;
  expected: string;
  check: (bytes: Uint8Array) => Promise<{ format: PartFormat } | { why: string }>;
};

const megabyte = 1024 * 1024;
const userAgent = `Mozilla/5.0 (compatible; bindery/${programVersion})`;
/** Google sends fonts in the format of the browser that asks. This is one that knows WOFF2 and ranges of characters. */
const modernBrowser = `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 bindery/${programVersion}`;
const page = /^(?:text\/html|application\/pdf|multipart\/|audio\/|video\/)/;

export const partKinds: Readonly<Record<PartKind, KindRules>> = {
  description: {
    name: 'API description',
    without: 'Its pages are missing.',
    accept: 'application/json, application/yaml, text/yaml;q=0.9, */*;q=0.5',
    userAgent,
    maxBytes: maxSpecificationBytes,
    refused: /^(?:text\/html|image\/|audio\/|video\/|multipart\/|application\/pdf)/,
    expected: 'JSON or YAML',
    check: descriptionFormat,
  },
  style: {
    name: 'style sheet',
    without: "The font is left to the reader's system.",
    accept: 'text/css, */*;q=0.1',
    userAgent: modernBrowser,
    maxBytes: megabyte,
    refused: /^(?!text\/css|text\/plain|$)/,
    expected: 'a style sheet',
    check: async (bytes) =>
      facesIn(Buffer.from(bytes).toString()).length === 0
        ? { why: 'the answer has no font files' }
        : { format: { extension: 'css', type: 'text/css' } },
  },
  font: {
    name: 'font',
    without: "It is left to the reader's system.",
    accept: 'font/woff2, font/*;q=0.9, */*;q=0.5',
    userAgent,
    maxBytes: 8 * megabyte,
    refused: page,
    expected: 'a font',
    check: async (bytes) => {
      const format = fontFormats[fontKind(bytes)?.format ?? 'none'];
      return format === undefined
        ? { why: 'the answer is not a font in the format woff2, woff, ttf or otf' }
        : { format: { extension: format, type: `font/${format}` } };
    },
  },
  picture: {
    name: 'picture',
    without: "Readers' browsers load it from its site.",
    accept: 'image/avif, image/webp, image/*;q=0.9, */*;q=0.5',
    userAgent,
    maxBytes: 20 * megabyte,
    refused: page,
    expected: 'a picture',
    check: async (bytes) => {
      const format = pictureFormat(bytes);
      return format === undefined
        ? { why: 'the answer is not a picture in the format PNG, JPEG, GIF, WebP, AVIF, SVG or ICO' }
        : { format };
    },
  },
};

const fontFormats: Readonly<Record<string, RemoteFormat>> = {
  woff2: 'woff2',
  woff: 'woff',
  truetype: 'ttf',
  opentype: 'otf',
};

/** The format of a picture by its first bytes; undefined for other files. Pure. */
function pictureFormat(bytes: Uint8Array): PartFormat | undefined {
  const start = Buffer.from(bytes.subarray(0, 4_096));
  const has = (text: string, at = 0): boolean => start.toString('latin1', at, at + text.length) === text;
  if (has('\u0089PNG\r\n')) return { extension: 'png', type: 'image/png' };
  if (has('\u00ff\u00d8\u00ff')) return { extension: 'jpg', type: 'image/jpeg' };
  if (has('GIF87a') || has('GIF89a')) return { extension: 'gif', type: 'image/gif' };
  if (has('RIFF') && has('WEBP', 8)) return { extension: 'webp', type: 'image/webp' };
  if (has('ftypavi', 4)) return { extension: 'avif', type: 'image/avif' };
  if (has('\u0000\u0000\u0001\u0000')) return { extension: 'ico', type: 'image/x-icon' };
  const isSvg = /^\ufeff?\s*(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)*(?:<!DOCTYPE svg[^>]*>\s*)?<svg[\s>]/i;
  return isSvg.test(start.toString()) ? { extension: 'svg', type: 'image/svg+xml' } : undefined;
}

/** The parsers of descriptions are loaded on demand, because they are large and few projects need them. */
async function descriptionFormat(bytes: Uint8Array): Promise<{ format: PartFormat } | { why: string }> {
  const { parseSpecification, SpecificationRefused } = await import('#shared/docs/reference/parse-specification.ts');
  const start = Buffer.from(bytes.subarray(0, 1_000))
    .toString()
    .replace(/^\ufeff/, '')
    .trimStart();
  const extension = start.startsWith('{') ? 'json' : 'yaml';
  try {
    parseSpecification(bytes, `answer.${extension}`);
    return { format: { extension, type: `application/${extension}` } };
  } catch (error) {
    if (!(error instanceof SpecificationRefused)) throw error;
    return { why: `the answer is no API description: it ${error.message}` };
  }
}
