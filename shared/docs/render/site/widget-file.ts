import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { programVersion } from '#shared/runtime/program-version.ts';
import { rightToLeft, sameTexts, tableNames, tableNamed } from '../interface-texts/language.ts';
import { widgetSource } from './browser-files.ts';

/** `widget.js` with its compressed copies. */
export type WidgetFile = {
  text: Buffer;
  gzip: Buffer;
  br: Buffer;
  /** The first 16 hex digits of its SHA-256. */
  digest: string;
  /** Value of the attribute `integrity`. */
  integrity: string;
};

const names = [
  ...['title', 'ask', 'welcome', 'note', 'placeholder', 'send', 'stop', 'retry', 'newThread', 'close', 'sources'],
  ...['helpful', 'notHelpful', 'working', 'stopped', 'cut', 'tooLong', 'offline', 'unavailable', 'invalid', 'refused'],
  ...['unknownSite', 'busy'],
] as const;

let known: Promise<WidgetFile> | undefined;

/** The script is made once per process. The same version of Bindery makes the same bytes. */
export function widgetFile(): Promise<WidgetFile> {
  known ??= makeFile();
  return known;
}

async function makeFile(): Promise<WidgetFile> {
  // The package has native code, and most processes never make the script.
  const { minifySync } = await import('oxc-minify');
  const source = widgetSource(
    {
      names: [...names, 'copy', 'copied'],
      tables: Object.fromEntries([...tableNames].map((name) => [name, textsOf(name)])),
      same: Object.fromEntries(sameTexts),
      rightToLeft,
    },
    programVersion,
  );
  const { code, errors } = minifySync('widget.js', source, {
    codegen: { removeWhitespace: true, legalComments: 'none' },
  });
  if (errors.length > 0) throw new Error(`widget.js cannot be minified: ${errors[0]?.message}`);
  const text = Buffer.from(`/*! Bindery widget ${programVersion}, Apache-2.0; icons: Lucide, ISC */\n${code}\n`);
  const digest = createHash('sha256').update(text);
  const base64 = digest.copy().digest('base64');
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: text.length };
  return {
    text,
    gzip: await promisify(gzip)(text, { level: 9 }),
    br: await promisify(brotliCompress)(text, { params }),
    digest: digest.digest('hex').slice(0, 16),
    integrity: `sha256-${base64}`,
  };
}

function textsOf(table: string): string {
  const { assistant, copy, copied } = tableNamed(table).scripts;
  const texts = [...names.map((name) => assistant[name]), copy, copied];
  if (texts.some((text) => text.includes('|'))) throw new Error(`a text of ${table} contains the separator "|"`);
  return texts.join('|');
}
