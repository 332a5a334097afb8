import { z } from 'zod';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { extensionOf, type ProjectFile, type ProjectFiles } from './project-files.ts';

export const pictureSizeSchema = z.object({ width: z.int(), height: z.int(), fills: z.literal(true).optional() });

/** Size in CSS pixels. `fills` marks a drawing without a size of its own, which takes the available width; the numbers are its proportions. */
export type PictureSize = z.infer<typeof pictureSizeSchema>;

/** Most pictures have their size in the first bytes; photographs have a thumbnail and a colour profile before it. */
const [firstBytes, mostBytes] = [8 * 1024, 256 * 1024];
const pictureTypes = new Set(['png', 'jpg', 'jpeg', 'gif', 'webp', 'avif', 'svg']);
const readAtOnce = 8;
const mostPixels = 100_000;

/** Sizes, by path, of the files that are pictures with a readable size. `known` may return an earlier result instead of calling its argument. */
export async function pictureSizes(
  files: readonly ProjectFile[],
  project: Pick<ProjectFiles, 'read'>,
  known: (file: ProjectFile, make: () => Promise<PictureSize | null>) => Promise<PictureSize | null>,
): Promise<Map<string, PictureSize>> {
  const sizes = new Map<string, PictureSize>();
  const pictures = files.filter(({ path }) => pictureTypes.has(extensionOf(path)));
  await inParallel(pictures, readAtOnce, async (file) => {
    const { path, sizeBytes } = file;
    const size = await known(file, async () => {
      const first = pictureSize(await project.read(path, firstBytes));
      const isShort = sizeBytes <= firstBytes;
      return first ?? (isShort ? null : (pictureSize(await project.read(path, mostBytes)) ?? null));
    });
    if (size !== null) sizes.set(path, size);
  });
  return sizes;
}

/**
 * The size of a picture as browsers show it, from the first bytes of its file: PNG, GIF, JPEG (rotated by its Exif orientation), WebP, AVIF, SVG.
 * Undefined for other formats, and if the size is missing. It reads each byte at most once, for any input.
 */
export function pictureSize(bytes: Uint8Array): PictureSize | undefined {
  const head = bytes.subarray(0, mostBytes);
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  try {
    return sensible(sizeIn(view, head));
  } catch (error) {
    // The file ends before its size.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function sizeIn(view: DataView, bytes: Uint8Array): PictureSize | undefined {
  if (nameAt(view, 1) === 'PNG\r' && nameAt(view, 12) === 'IHDR')
    return { width: view.getUint32(16), height: view.getUint32(20) };
  if (nameAt(view, 0) === 'GIF8') return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
  if (view.getUint16(0) === 0xffd8) return sizeOfJpeg(view);
  if (nameAt(view, 0) === 'RIFF' && nameAt(view, 8) === 'WEBP') return sizeOfWebp(view);
  if (nameAt(view, 4) === 'ftyp') return sizeOfAvif(view);
  return sizeOfSvg(new TextDecoder().decode(bytes));
}

function sensible(size: PictureSize | undefined): PictureSize | undefined {
  if (size === undefined) return undefined;
  const [width, height] = [Math.round(size.width), Math.round(size.height)];
  const isSize = (side: number): boolean => side >= 1 && side <= mostPixels;
  return isSize(width) && isSize(height) ? { ...size, width, height } : undefined;
}

const nameAt = (view: DataView, at: number): string =>
  at + 4 > view.byteLength
    ? ''
    : String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3));

/** Segments of a marker and a length (ITU-T T.81, B.1); the frame has the size, and an Exif segment before it may turn the picture. */
function sizeOfJpeg(view: DataView): PictureSize | undefined {
  let isTurned = false;
  for (let at = 2; view.getUint8(at) === 0xff; ) {
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) {
      const [height, width] = [view.getUint16(at + 5), view.getUint16(at + 7)];
      return isTurned ? { width: height, height: width } : { width, height };
    }
    const length = view.getUint16(at + 2);
    if (marker === 0xe1 && nameAt(view, at + 4) === 'Exif') isTurned ||= isTurnedByExif(view, at + 10, at + 2 + length);
    at += 2 + Math.max(2, length);
  }
  return undefined;
}

const orientation = 0x0112;

/** Reads the orientation from the first directory of the TIFF data in Exif: from 5 on, height and width are swapped. */
function isTurnedByExif(view: DataView, start: number, end: number): boolean {
  const little = view.getUint16(start) === 0x4949;
  const directory = start + view.getUint32(start + 4, little);
  if (directory + 2 > end) return false;
  const entries = view.getUint16(directory, little);
  for (let at = directory + 2; at < directory + 2 + 12 * entries && at + 12 <= end; at += 12)
    if (view.getUint16(at, little) === orientation) return view.getUint16(at + 8, little) >= 5;
  return false;
}

/** The first chunk of a WebP file: lossy, lossless or extended. */
function sizeOfWebp(view: DataView): PictureSize | undefined {
  const name = nameAt(view, 12);
  if (name === 'VP8 ') return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
  if (name === 'VP8L') {
    const bits = view.getUint32(21, true);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (name !== 'VP8X') return undefined;
  const threeBytes = (at: number): number => view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000;
  return { width: threeBytes(24) + 1, height: threeBytes(27) + 1 };
}

const boxesOnTheWay = ['meta', 'iprp', 'ipco'];

/**
 * The size of an AVIF file. It has nested boxes, and the innermost list has the sizes. If there are several, the largest is the picture's, and the
 * others are those of its tiles.
 */
function sizeOfAvif(view: DataView): PictureSize | undefined {
  let found: PictureSize | undefined;
  let isTurned = false;
  const read = (start: number, end: number, level: number): void => {
    for (const { name, from, to } of boxesIn(view, start, end)) {
      // `meta` has four bytes of version and flags before its boxes.
      if (name === boxesOnTheWay[level]) read(level === 0 ? from + 4 : from, to, level + 1);
      if (level < boxesOnTheWay.length) continue;
      if (name === 'irot') isTurned = view.getUint8(from) % 2 === 1;
      if (name !== 'ispe') continue;
      const size = { width: view.getUint32(from + 4), height: view.getUint32(from + 8) };
      if (found === undefined || size.width * size.height > found.width * found.height) found = size;
    }
  };
  if (/^(avif|avis|mif1|msf1)$/.test(nameAt(view, 8))) read(0, view.byteLength, 0);
  return found && isTurned ? { width: found.height, height: found.width } : found;
}

const mostBoxes = 1_000;

function* boxesIn(view: DataView, start: number, end: number): Generator<{ name: string; from: number; to: number }> {
  let at = start;
  for (let box = 0; box < mostBoxes && at + 8 <= end; box += 1) {
    const bytes = view.getUint32(at);
    // A length of 0 means up to the end, and 1 that a length of 64 bits follows, which only the image data needs.
    if (bytes !== 0 && bytes < 8) return;
    const to = bytes === 0 ? end : Math.min(end, at + bytes);
    yield { name: nameAt(view, at + 4), from: at + 8, to };
    at = to;
  }
}

/** Pixels of a CSS unit (CSS Values 4, 6.2). */
const pixelsOf: Readonly<Record<string, number>> = {
  '': 1,
  px: 1,
  in: 96,
  cm: 96 / 2.54,
  mm: 96 / 25.4,
  pt: 96 / 72,
  pc: 16,
  em: 16,
  rem: 16,
  ex: 8,
};

/** `width` and `height` of the root element; missing or relative ones are derived from `viewBox`. */
function sizeOfSvg(text: string): PictureSize | undefined {
  const attributes = rootAttributes(text);
  const width = lengthOf(attributes?.get('width'));
  const height = lengthOf(attributes?.get('height'));
  if (width !== undefined && height !== undefined) return { width, height };
  const [, , boxWidth = 0, boxHeight = 0] = (attributes?.get('viewBox') ?? '')
    .trim()
    .split(/[\s,]+/, 5)
    .map(Number);
  if (!(boxWidth > 0 && boxHeight > 0)) return undefined;
  if (width !== undefined) return { width, height: (width * boxHeight) / boxWidth };
  if (height !== undefined) return { width: (height * boxWidth) / boxHeight, height };
  // The proportions are scaled up, because drawings may have any unit, and rounding to whole numbers would distort small ones.
  const scale = Math.max(1, 1_000 / Math.max(boxWidth, boxHeight));
  return { width: boxWidth * scale, height: boxHeight * scale, fills: true };
}

function lengthOf(written: string | undefined): number | undefined {
  const [, number = '', unit = ''] = /^([0-9]*\.?[0-9]+(?:e[0-9]+)?)([a-z]*)$/i.exec(written?.trim() ?? '') ?? [];
  const pixels = pixelsOf[unit.toLowerCase()];
  return number === '' || pixels === undefined ? undefined : Number(number) * pixels;
}

const longestAttribute = 200;
const mostAttributes = 100;

/** Attributes of the first element if it is an `<svg>`, after skipping declarations, comments and a document type. */
function rootAttributes(text: string): Map<string, string> | undefined {
  let at = 0;
  for (;;) {
    while (at < text.length && text.charCodeAt(at) <= 0x20) at += 1;
    const end = endOfProlog(text, at);
    if (end === undefined) break;
    at = end;
  }
  const root = /<(?:svg|svg:svg)(?=[\s>/])/y;
  root.lastIndex = at;
  if (!root.test(text)) return undefined;
  const attribute = /\s+([^\s=<>"'/]{1,100})\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y;
  attribute.lastIndex = root.lastIndex;
  const found = new Map<string, string>();
  for (let count = 0; count < mostAttributes; count += 1) {
    const [, name, double, single] = attribute.exec(text) ?? [];
    if (name === undefined) break;
    found.set(name, (double ?? single ?? '').slice(0, longestAttribute));
  }
  return found;
}

/** End of the declaration, comment or document type at `at`; undefined if there is none. */
function endOfProlog(text: string, at: number): number | undefined {
  const kinds = [
    ['<?', '?>'],
    ['<!--', '-->'],
    ['<!DOCTYPE', text.slice(at, at + 300).includes('[') ? ']>' : '>'],
  ] as const;
  const [opening, closing] = kinds.find(([start]) => text.startsWith(start, at)) ?? [];
  if (opening === undefined || closing === undefined) return undefined;
  const end = text.indexOf(closing, at + opening.length);
  return end < 0 ? undefined : end + closing.length;
}
