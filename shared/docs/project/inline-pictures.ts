import { hash } from 'node:crypto';
import { fencedLines, inlineCodeSpans } from './prepare-source.ts';

/** Bytes of the pictures of a source, by their paths in the bundle. */
export type InlinePictures = Map<string, Uint8Array>;

/** File extensions of the formats that browsers show, by media subtype. Other pictures stay in the source and are refused later. */
const endings: Readonly<Record<string, string>> = {
  png: 'png',
  jpeg: 'jpg',
  jpg: 'jpg',
  gif: 'gif',
  webp: 'webp',
  avif: 'avif',
  'svg+xml': 'svg',
};
/** Minimum length. A shorter picture is a dot or a small icon, which is not worth a separate request. */
const leastCharacters = 4_096;

const pattern = () =>
  new RegExp(String.raw`data:image/([a-z]{3,4}(?:\+xml)?);base64,([A-Za-z0-9+/]{${leastCharacters},}={0,2})`, 'g');

/**
 * Replaces base64 pictures in a source by paths in `folder`, made of a hash of their bytes. Code keeps its pictures. Parsers would take long for such
 * lines, and no page should contain a picture twice.
 */
export function takePictures(text: string, folder: string): { text: string; pictures: InlinePictures } {
  const pictures: InlinePictures = new Map();
  if (!text.includes('data:image/')) return { text, pictures };
  const lines = text.split('\n');
  const fenced = fencedLines(lines);
  for (const [index, line] of lines.entries()) {
    if (fenced[index] || line.length < leastCharacters || !line.includes('data:image/')) continue;
    const spans = inlineCodeSpans(line);
    lines[index] = line.replaceAll(pattern(), (written, type: string, base64: string, offset: number) => {
      const ending = endings[type];
      if (ending === undefined || spans.some(([start, end]) => offset >= start && offset < end)) return written;
      const bytes = Buffer.from(base64, 'base64');
      const path = `${folder}/${hash('sha256', bytes, 'hex').slice(0, 32)}.${ending}`;
      pictures.set(path, bytes);
      return `/${path}`;
    });
  }
  return { text: lines.join('\n'), pictures };
}

/** The text without its pictures, for code that only looks for links and words. */
export function withoutPictures(text: string): string {
  return text.includes('data:image/')
    ? text.replaceAll(pattern(), (_written, type: string) => `data:image/${type};base64,…`)
    : text;
}
