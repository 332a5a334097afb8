import type { FindingCode } from '#shared/docs/findings/finding-texts.ts';
import { copiesIn, fontFormats, remoteAddress } from '#shared/docs/reference/remote-files.ts';
import { quoted, type Report } from './diagnostics.ts';
import { facesIn, googleStyles } from './google-fonts.ts';
import { type JsonObject, type JsonValue, objectOf, textOf, withoutUndefined } from './json-values.ts';
import { type ProjectFile, type ProjectFiles, resolvePath, sniffedBytes } from './project-files.ts';
import type { SiteFont, SiteFonts } from './site-model.ts';
import { classifyUrl, decoded, isExternalHref } from './url-policy.ts';

/** Larger files are not used, because every page would wait for them. Fonts for Chinese, Japanese and Korean need some megabytes. */
const maxFontBytes = 8 * 1024 * 1024;
const maxFamily = 100;

/** True for names that stand for fonts of the reader's system and need no file. */
export const isGenericFamily = (family: string): boolean =>
  /^(serif|sans-serif|monospace|cursive|fantasy|system-ui|ui-serif|ui-sans-serif|ui-monospace|ui-rounded)$/.test(
    family,
  );

/** The fonts that `docs.json` asks for, before their files are looked up. */
type WantedFonts = { body: JsonObject; heading: JsonObject; hasOwnWeight: boolean };

function wantedFonts(written: JsonValue | undefined): WantedFonts {
  const all = objectOf(written);
  const wantedFor = (part: string): JsonObject => {
    const own = objectOf(all[part]);
    const family = textOf(own['family']);
    // The file of the common font is not used for another family.
    const isOther = family !== undefined && family !== textOf(all['family']);
    const { source: _1, format: _2, weight: _3, ...rest } = all;
    return { ...(isOther ? rest : all), ...own };
  };
  return {
    body: wantedFor('body'),
    heading: wantedFor(all['headings'] === undefined ? 'heading' : 'headings'),
    // A common weight applies to text only: headings keep the theme's weight.
    hasOwnWeight: objectOf(all['heading'] ?? all['headings'])['weight'] !== undefined,
  };
}

/** The weights that a project names for a family. */
const weightsOf = (family: string, { body, heading }: WantedFonts): number[] =>
  [body, heading].flatMap((font) => (textOf(font['family']) === family ? validWeight(font['weight']) : []));

/** A font that must be fetched. `styles`: addresses of its style sheet at Google Fonts, the best one first; `source`: the address of its file. */
export type RemoteFont = { family: string } & ({ source: string } | { styles: string[] });

/** The fonts in `fonts` of `docs.json` that are named by an address, or by their family alone. Pure. */
export function remoteFonts(written: JsonValue | undefined): RemoteFont[] {
  const wanted = wantedFonts(written);
  const found = [wanted.body, wanted.heading].flatMap((font): RemoteFont[] => {
    const [family, source] = [textOf(font['family']), textOf(font['source'])];
    if (family === undefined || family.length > maxFamily || isGenericFamily(family)) return [];
    if (source === undefined) return [{ family, styles: googleStyles(family, weightsOf(family, wanted)) }];
    return remoteAddress(source) === undefined ? [] : [{ family, source }];
  });
  return [...new Map(found.map((font) => [JSON.stringify(font), font])).values()];
}

/**
 * Reads `fonts` of `docs.json`: one font for everything, or one for headings and one for text. A font is in bundles only if its file is in `carried`,
 * the project files that bundles have and the copies of style sheets; everything else is reported with advice, and left to the reader's system. Nothing
 * is fetched.
 */
export async function readFonts(
  written: JsonValue | undefined,
  configFile: string,
  carried: ProjectFiles,
  report: Report,
): Promise<SiteFonts | undefined> {
  const wanted = wantedFonts(written);
  const told = new Set<string>();
  const warn: Warn = (code, message) => {
    if (!told.has(message)) report({ severity: 'warning', code, message, file: configFile });
    told.add(message);
  };
  const body = await readFont(wanted.body, wanted, carried, warn);
  const heading = await readFont(wanted.heading, wanted, carried, warn);
  if (heading && !wanted.hasOwnWeight && heading.file?.path === body?.file?.path) delete heading.weight;
  return body || heading ? withoutUndefined({ body, heading }) : undefined;
}

type Warn = (code: FindingCode, message: string) => void;

async function readFont(
  wanted: JsonObject,
  all: WantedFonts,
  carried: ProjectFiles,
  warn: Warn,
): Promise<SiteFont | undefined> {
  const source = textOf(wanted['source']);
  const family = textOf(wanted['family']);
  if (family === undefined || family.length > maxFamily) {
    const problem = family === undefined ? 'has no "family"' : `has a "family" of more than ${maxFamily} characters`;
    if (family !== undefined || source !== undefined)
      warn('bad-font', `A font in "fonts" ${problem}, so it has no effect. Write the name of the font there.`);
    return undefined;
  }
  const weight = weightOf(wanted['weight'], warn);
  const file = source === undefined ? undefined : await fontFile(source, family, carried, warn);
  if (source !== undefined || isGenericFamily(family)) return withoutUndefined({ family, weight, file });
  const faces = await googleFaces(googleStyles(family, weightsOf(family, all)), carried);
  if (faces === undefined) warn('font-without-file', fontWithoutFile(family));
  return withoutUndefined({ family, weight, faces });
}

/** The sentence about a font that is named by its family alone, and has no copy. */
export const fontWithoutFile = (family: string): string =>
  `The font ${quoted(family)} has no file, so only readers who have it see it. Put its .woff2 file into the project and name it as "source".`;

/** The sentence about a font that is named by an address without a copy. */
export const fontElsewhere = (family: string, source: string): string =>
  `The font ${quoted(family)} is left to the reader's system: bundles load nothing from elsewhere, and its source is ${quoted(source)}. Put that file into the project and name it as "source".`;

const maxStyleBytes = 1024 * 1024;

/** The copies of the font files of Google Fonts; undefined if there is no copy of the style sheet, or no file of it. */
async function googleFaces(styles: readonly string[], carried: ProjectFiles): Promise<SiteFont['faces']> {
  const isThere = (path: string): boolean => carried.files.some((file) => file.path === path);
  const copy = styles.flatMap((style) => copiesIn(style, ['css'])).find(isThere);
  if (copy === undefined) return undefined;
  const style = Buffer.from(await carried.read(copy, maxStyleBytes)).toString();
  const faces: NonNullable<SiteFont['faces']> = [];
  for (const { address, weight, range } of facesIn(style)) {
    const file = fileOf(address, carried);
    if (file === undefined || file.sizeBytes > maxFontBytes) continue;
    const kind = fontKind(await carried.read(file.path, sniffedBytes));
    if (kind) faces.push(withoutUndefined({ path: file.path, format: kind.format, weight, range }));
  }
  return faces.length === 0 ? undefined : faces;
}

/** The copy of a font file at an address. */
function fileOf(address: string, { files }: ProjectFiles): ProjectFile | undefined {
  const copies = new Set(copiesIn(remoteAddress(address) ?? '', fontFormats));
  return files.find(({ path }) => copies.has(path));
}

function weightOf(written: JsonValue | undefined, warn: Warn): number | undefined {
  if (written === undefined || written === null) return undefined;
  const [weight] = validWeight(written);
  if (weight !== undefined) return weight;
  warn('bad-setting', 'A "weight" in "fonts" must be a number from 1 to 1000, such as 400; it has no effect.');
  return undefined;
}

function validWeight(written: JsonValue | undefined): number[] {
  const weight = Number(textOf(written));
  return weight >= 1 && weight <= 1000 ? [weight] : [];
}

async function fontFile(source: string, family: string, carried: ProjectFiles, warn: Warn): Promise<SiteFont['file']> {
  const named = `The font ${quoted(family)} is left to the reader's system: `;
  const isElsewhere = isExternalHref(source);
  const file = isElsewhere ? fileOf(source, carried) : carried.files.find(({ path }) => path === pathOf(source));
  if (!file && isElsewhere) {
    warn('font-without-file', fontElsewhere(family, source));
    return undefined;
  }
  if (!file) {
    warn('bad-font', `${named}${quoted(source)} is not a file of the project. Name an existing file.`);
    return undefined;
  }
  if (file.sizeBytes > maxFontBytes) {
    const message = `${named}${quoted(file.path)} is larger than 8 MB. Save it as .woff2, with the characters that the pages use.`;
    warn('bad-font', message);
    return undefined;
  }
  const kind = fontKind(await carried.read(file.path, sniffedBytes));
  if (kind) return { path: file.path, ...kind };
  const message = `${named}${quoted(file.path)} is not a font in the format woff2, woff, ttf or otf. Save it as .woff2.`;
  warn('bad-font', message);
  return undefined;
}

function pathOf(source: string): string | undefined {
  const url = classifyUrl(source);
  return url.kind === 'path' ? resolvePath(`/${decoded(url.path).replace(/^(\.?\/)+/, '')}`, '') : undefined;
}

type FontKind = Pick<NonNullable<SiteFont['file']>, 'format' | 'variable'>;

const signatures: Readonly<Record<number, FontKind['format']>> = {
  0x774f4632: 'woff2',
  0x774f4646: 'woff',
  0x00010000: 'truetype',
  0x74727565: 'truetype',
  0x4f54544f: 'opentype',
};

/** Format of a font file by its first bytes, and whether its weights are variable. Undefined if it is not a font. */
export function fontKind(bytes: Uint8Array): FontKind | undefined {
  if (bytes.length < 48) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const format = signatures[view.getUint32(0)];
  if (format === undefined) return undefined;
  const tables =
    format === 'woff2' ? tablesOfWoff2(view) : tablesOf(view, format === 'woff' ? 44 : 12, format === 'woff' ? 20 : 16);
  return { format, variable: tables.has('fvar') };
}

/** Names in a table directory whose entries have that many bytes; entries beyond the available bytes are left out. */
function tablesOf(view: DataView, start: number, entryBytes: number): Set<string> {
  const count = view.getUint16(start === 44 ? 12 : 4);
  const names = new Set<string>();
  for (let table = 0; table < count && start + table * entryBytes + 4 <= view.byteLength; table++) {
    names.add(nameAt(view, start + table * entryBytes));
  }
  return names;
}

/** Indexes in WOFF2's list of known tables (section 5.2): the directory entries of transformed tables are longer. */
const [glyf, loca, fvar, ownName] = [10, 11, 47, 63];

function tablesOfWoff2(view: DataView): Set<string> {
  const names = new Set<string>();
  const count = view.getUint16(12);
  let at = 48;
  const skipNumber = (): void => {
    for (let digits = 0; digits < 5 && at < view.byteLength; digits++) if (view.getUint8(at++) < 128) return;
  };
  for (let table = 0; table < count && at + 6 <= view.byteLength; table++) {
    const flags = view.getUint8(at++);
    const known = flags & 63;
    if (known === fvar) names.add('fvar');
    if (known === ownName) {
      names.add(nameAt(view, at));
      at += 4;
    }
    skipNumber();
    const isTransformed = known === glyf || known === loca ? flags >> 6 !== 3 : flags >> 6 !== 0;
    if (isTransformed) skipNumber();
  }
  return names;
}

const nameAt = (view: DataView, at: number): string =>
  String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3));
