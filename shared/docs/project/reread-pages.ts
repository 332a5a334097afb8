import { type ChangedPage, mostTargetsOfPage, type RereadPages } from './changed-pages.ts';
import type { ProjectFiles } from './project-files.ts';
import { sourceReading } from './read-sources.ts';
import { openPackedReadings, type Reading } from './readings.ts';
import { maxSourceBytes } from './source-limits.ts';

export type RereadRequest = {
  changed: readonly ChangedPage[];
  variables: Record<string, string>;
  /** Packed readings of the last version. */
  known: Uint8Array;
  readerVersion: string;
};

/** Reads changed pages. Undefined if more than the link targets of a page changed, or if a reading is not known. */
export async function rereadPages(
  { changed, variables, known, readerVersion }: RereadRequest,
  read: ProjectFiles['read'],
): Promise<RereadPages | undefined> {
  const readings = openPackedReadings(known, readerVersion);
  if (readings === undefined) return undefined;
  const linkTargets: string[][] = [];
  for (const { before, ...file } of changed) {
    const last = readings.source({ path: file.path, sha256: before });
    const reading = sourceReading(await read(file.path, maxSourceBytes + 1), file, variables);
    if (last === undefined || !isLike(last, reading) || reading.linkTargets.length > mostTargetsOfPage)
      return undefined;
    readings.replace({ path: file.path, sha256: before }, file, reading);
    linkTargets.push(reading.linkTargets);
  }
  const packed = readings.packed();
  return packed && { linkTargets, readings: packed };
}

const isLike = (one: Reading<'source'>, other: Reading<'source'>): boolean =>
  JSON.stringify({ ...one, linkTargets: [] }) === JSON.stringify({ ...other, linkTargets: [] });
