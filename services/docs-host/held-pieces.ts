import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { sha256Hex } from '#shared/contracts/identifiers.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import type { StoredBytes } from './content-folder.ts';

/*
 * A version records the pieces of its bundle and the contents of each, one JSON line for a piece, so that the next version fetches only new pieces.
 */

/**
 * The contents of a piece: whole files, by their paths, or a stored part of one file. A piece with anything else, such as the end of one file and the
 * beginning of another, is not remembered.
 */
export type PieceContents = { files: readonly string[] } | { parts: readonly StoredBytes[] };

export type HeldPieces = ReadonlyMap<string, PieceContents>;

const piecesFile = 'site.pieces';

const lineSchema = z.tuple([
  sha256Hex,
  z.union([
    z.object({ files: z.array(z.string()) }),
    z.object({ parts: z.array(z.object({ size: z.int().min(0), sha256: sha256Hex })) }),
  ]),
]);

export async function writeHeldPieces(folder: string, pieces: HeldPieces): Promise<void> {
  await writeFile(join(folder, piecesFile), [...pieces].map((piece) => `${JSON.stringify(piece)}\n`).join(''));
}

/** The pieces of a version; none if they were not remembered. A line that cannot be read is left out. */
export async function readHeldPieces(folder: string): Promise<HeldPieces> {
  const text = await readFile(join(folder, piecesFile), 'utf8').catch(() => '');
  const lines = text.split('\n').flatMap((line) => {
    const parsed = lineSchema.safeParse(jsonIn(line));
    return parsed.success ? [parsed.data] : [];
  });
  return new Map(lines);
}
