import { z } from 'zod';
import { sha256Hex } from '#shared/contracts/identifiers.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import type { StoredBytes } from './content-folder.ts';
import { lineOf, type SortedLines } from './sorted-lines.ts';

/*
 * A version records the contents of each piece of its bundle, in a line named by the SHA-256 of the piece. So the next version fetches only new pieces,
 * and knows which files are in pieces that are gone.
 */

/**
 * The contents of a piece: whole files, by their paths, or a stored part of one file. Any other piece, such as one with the end of one file and the
 * beginning of another, is always fetched again; `begins` has the paths of the files that begin in it.
 */
export type PieceContents =
  | { files: readonly string[] }
  | { parts: readonly StoredBytes[] }
  | { begins: readonly string[] };

export type PieceChanges = ReadonlyMap<string, PieceContents | undefined>;

const contentsSchema = z.union([
  z.object({ files: z.array(z.string()) }),
  z.object({ parts: z.array(z.object({ size: z.int().min(0), sha256: sha256Hex })) }),
  z.object({ begins: z.array(z.string()) }),
]);

/** The contents in the line of a piece. */
export const contentsIn = (value: Buffer): PieceContents => contentsSchema.parse(jsonIn(value.toString('utf8')));

const begins = (value: Buffer, text: Buffer): boolean => text.equals(value.subarray(0, text.length));
const ofFiles = Buffer.from('{"files"');
const ofParts = Buffer.from('{"parts"');

/** True for the line of a piece with whole files. Their many names are not parsed. */
export const hasFiles = (value: Buffer): boolean => begins(value, ofFiles);

/** The parts in the line of a piece; undefined if it has other contents. */
export function partsIn(value: Buffer): readonly StoredBytes[] | undefined {
  if (!begins(value, ofParts)) return undefined;
  const contents = contentsIn(value);
  return 'parts' in contents ? contents.parts : undefined;
}

/** The pieces whose contents a version can use without their bytes. */
export function heldIn(pieces: Pick<SortedLines, 'each'>): Set<string> {
  const held = new Set<string>();
  for (const { name, value } of pieces.each()) if (hasFiles(value) || begins(value, ofParts)) held.add(name);
  return held;
}

/** The paths of the files that begin in a piece. */
export const beginningIn = (contents: PieceContents): readonly string[] =>
  'files' in contents ? contents.files : 'begins' in contents ? contents.begins : [];

/** The lines of changed pieces by their names. */
export const linesOfPieces = (changes: PieceChanges): Map<string, Buffer | undefined> =>
  new Map([...changes].map(([sha256, contents]) => [sha256, contents && lineOf(sha256, contents)]));
