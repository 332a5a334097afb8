import { mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundlePiecesSchema } from '#shared/contracts/stored-objects.ts';
import type { SiteLink } from '#shared/interfaces/http/exports.ts';
import { jsonIn, sha256Of } from '#shared/runtime/canonical-json.ts';
import { Unavailable } from '#shared/runtime/failures.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { safeRequest, textOf } from './download-bundle.ts';
import type { BundleRange, Piece } from './piece-ranges.ts';

/** Ranges of a bundle cannot be fetched, although the whole bundle may be available. */
export class RangesRefused extends Error {
  override name = 'RangesRefused';
}

/** Size limit of a list of pieces. The list for a site of 25,000 pages has half a megabyte. */
const mostListBytes = 32 * 1024 * 1024;
const rangesAtOnce = 4;

/** Downloads the list of a bundle's pieces into `folder`. Rejects with `RangesRefused` if it is not the one that the platform recorded. */
export async function fetchPieces(
  { url, sha256 }: NonNullable<SiteLink['pieces']>,
  folder: string,
  signal: AbortSignal,
): Promise<{ list: string; pieces: readonly Piece[] }> {
  const { statusCode, body } = await safeRequest(new URL(url), { signal });
  body.on('error', () => {});
  const text = await textOf(body, mostListBytes);
  if (statusCode !== 200) throw new RangesRefused(`the store answered ${statusCode} to the link of the pieces`);
  const parsed = bundlePiecesSchema.safeParse(jsonIn(text));
  if (sha256Of(text) !== sha256 || !parsed.success)
    throw new RangesRefused('the list of pieces is not the one that the platform recorded');
  await mkdir(folder, { recursive: true });
  const list = join(folder, 'pieces.json');
  await writeFile(list, text);
  return { list, pieces: parsed.data.pieces };
}

/**
 * Downloads ranges of a bundle of `sizeBytes` into a file, one after the other. Rejects with `RangesRefused` if the store ignores ranges, or has another
 * object, and with `Unavailable` if an answer breaks off. The bytes are not checked.
 */
export async function fetchRanges(
  url: string,
  folder: string,
  ranges: readonly BundleRange[],
  sizeBytes: number,
  signal: AbortSignal,
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const name = join(folder, 'ranges');
  const file = await open(name, 'w');
  let end = 0;
  const places = ranges.map((range) => (end += range.end - range.start) - (range.end - range.start));
  /** Entity tag of the first answer. Every range is of the same object. */
  let etag: string | undefined;

  const fetchOne = async (range: BundleRange, index: number): Promise<void> => {
    const { start } = range;
    const last = range.end - 1;
    const asked = { range: `bytes=${start}-${last}`, ...(etag !== undefined && { 'if-match': etag }) };
    const { statusCode, headers, body } = await safeRequest(new URL(url), { headers: asked, signal });
    body.on('error', () => {});
    if (statusCode !== 206 || headers['content-range'] !== `bytes ${start}-${last}/${sizeBytes}`) {
      body.destroy();
      throw new RangesRefused(`the store answered ${statusCode} to the request of a range`);
    }
    if (typeof headers.etag === 'string' && !headers.etag.startsWith('W/')) etag ??= headers.etag;
    let at = places[index] ?? 0;
    const until = at + range.end - start;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (at + chunk.length > until) throw new RangesRefused('the store sent more than the range that was requested');
      await file.write(chunk, 0, chunk.length, at);
      at += chunk.length;
    }
    if (at < until) throw new Unavailable('the download of a range broke off');
  };

  try {
    const [first, ...others] = ranges;
    if (first !== undefined) await fetchOne(first, 0);
    await inParallel(others, rangesAtOnce, (range, index) => fetchOne(range, index + 1));
  } finally {
    await file.close();
  }
  return name;
}
