import { decodeSource } from '#shared/docs/project/decode-source.ts';
import { pictureAddresses } from '#shared/docs/project/picture-addresses.ts';
import { fencedLines } from '#shared/docs/project/prepare-source.ts';
import { isSource, type NamedFiles } from '#shared/docs/project/project-files.ts';
import { maxSourceBytes } from '#shared/docs/project/source-limits.ts';
import type { NamedPart } from './named-parts.ts';

/** The pictures that pages name by address, with their places. */
export async function picturesOfPages(project: NamedFiles): Promise<NamedPart[]> {
  const parts: NamedPart[] = [];
  for (const { path } of project.files) {
    if (!isSource(path)) continue;
    const bytes = await project.read(path, maxSourceBytes);
    if (!Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes('http')) continue;
    const { text } = decodeSource(bytes, path);
    for (const { address, at } of pictureAddresses(withoutCode(text))) {
      const line = text.slice(0, at).split('\n').length;
      parts.push({ kind: 'picture', address, otherwise: [], file: path, line, replaces: [] });
    }
  }
  return parts;
}

/** The text with blanks instead of its fenced code and code in a line, where pictures are examples. Places stay the same. */
function withoutCode(text: string): string {
  const lines = text.split('\n');
  const fenced = fencedLines(lines);
  return lines
    .map((line, at) =>
      fenced[at] ? ' '.repeat(line.length) : line.replace(/(`+)(?!`)[^\n]*?[^`]\1(?!`)/g, (code) => blanksFor(code)),
    )
    .join('\n');
}

/** A template with only an address is the value of a prop, not code. */
const blanksFor = (code: string): string => (/^`https?:\/\/[^\s`]+`$/.test(code) ? code : ' '.repeat(code.length));
