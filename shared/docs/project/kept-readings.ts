import type { ProjectFile } from './project-files.ts';
import type { Reading, Readings } from './readings.ts';

/** Readings that stay in memory, for a process that reads the same project again and again. */
export type KeptReadings = Readings & {
  /** The kept reading of a page or snippet, whatever the version of the file. */
  source(path: string): Reading<'source'> | undefined;
  /** Drops the readings that were not used since the last call. Called after each reading of the whole project. */
  dropUnused(): void;
};

type Kept = { sha256: string; reading: unknown };

/**
 * Readings by kind and path, each of the last version of its file. They are kept as values, because unpacking those of 25,000 pages takes longer than
 * reading the project.
 */
export function keptReadings(): KeptReadings {
  let before = new Map<string, Kept>();
  let used = new Map<string, Kept>();
  const keyOf = (kind: string, path: string): string => `${kind}\0${path}`;
  const known = (key: string): Kept | undefined => used.get(key) ?? before.get(key);
  return {
    async of(kind, file: ProjectFile, make, isTrue = () => true) {
      const key = keyOf(kind, file.path);
      const found = known(key);
      if (found?.sha256 === file.sha256) {
        const reading = found.reading as Awaited<ReturnType<typeof make>>;
        if (isTrue(reading)) {
          used.set(key, found);
          return reading;
        }
      }
      const reading = await make();
      used.set(key, { sha256: file.sha256, reading });
      return reading;
    },
    source: (path) => known(keyOf('source', path))?.reading as Reading<'source'> | undefined,
    dropUnused() {
      before = used;
      used = new Map();
    },
    packed: () => undefined,
  };
}
