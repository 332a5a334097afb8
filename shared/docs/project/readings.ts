import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { diagnosticSchema } from '#shared/contracts/diagnostic.ts';
import type { Finding } from '#shared/docs/findings/finding-texts.ts';
import { sha256Hex } from '#shared/contracts/identifiers.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import { anyJson } from './any-json.ts';
import { pictureSizeSchema } from './picture-size.ts';
import type { ProjectFile } from './project-files.ts';

const texts = z.array(z.string());

/**
 * The result of reading one file alone. It does not depend on other files, so it stays valid while the bytes and the path of the file are the same.
 */
const readingSchemas = {
  source: z.object({
    frontmatter: z.record(z.string(), anyJson),
    leadingTitle: z.string().optional(),
    groupsUnreadable: z.boolean(),
    /** Specifiers of the imports, as written. */
    imports: texts,
    snippetFiles: texts,
    linkTargets: texts,
    undefinedVariables: texts,
    /** Hash of the variables of the project, if the file uses any. */
    variables: sha256Hex.optional(),
    diagnostics: z.array(diagnosticSchema) as z.ZodType<Finding[]>,
  }),
  /** The size of a picture; null for a file without a readable one. */
  picture: pictureSizeSchema.nullable(),
  /** True for an API description. */
  description: z.boolean(),
};

type ReadingKind = keyof typeof readingSchemas;
export type Reading<K extends ReadingKind> = z.infer<(typeof readingSchemas)[K]>;

/** The readings of the files of a project: those that are known from an earlier version of the project, and those of this version. */
export type Readings = {
  /**
   * The known reading of a file, or the one that `make` returns, which is kept for the next version. `isTrue` refuses a known reading that depends on
   * more than the file. A rejection of `make` is passed on, and nothing is kept.
   */
  of<K extends ReadingKind>(
    kind: K,
    file: ProjectFile,
    make: () => Promise<Reading<K>>,
    isTrue?: (reading: Reading<K>) => boolean,
  ): Promise<Reading<K>>;
  /** The reading of this version of a file, if it is in memory. */
  known<K extends ReadingKind>(kind: K, file: ProjectFile): Reading<K> | undefined;
  /**
   * The outcome of a step that has these inputs only, which are compared by identity: the known one with its findings if they are the same, else the
   * one that `make` returns. Outcomes must not be changed. Readings that are packed keep no outcomes.
   */
  step<T>(
    kind: string,
    name: string,
    inputs: readonly unknown[],
    make: (report: (finding: Finding) => void) => T,
    report?: (finding: Finding) => void,
  ): T;
  /** All readings of this version for the next one, packed; undefined if they are too large to be kept. */
  packed(): Uint8Array | undefined;
};

/** Limit of the unpacked readings. A process that reads projects has 512 MB, and needs most of them for other data. */
const mostBytes = 64 * 1024 * 1024;

/**
 * Opens packed readings. They count only if the same version of the reading code made them (`readerVersion`); others, and damaged ones, are ignored.
 * Format: gzip of lines. The first is `{format, reader}`; each of the others is `[kind, path, sha256]`, a tab, and the reading.
 */
export function openReadings(known: Uint8Array | undefined, readerVersion: string): Readings {
  const head = headOf(readerVersion);
  const lines = known === undefined ? new Map<string, string>() : linesIn(known, head);
  const kept = new Map<string, string>();
  return {
    async of(kind, file, make, isTrue = () => true) {
      const key = keyOfReading(kind, file.path, file.sha256);
      const line = lines.get(key);
      const found = line === undefined ? undefined : readingIn(line, kind);
      if (line !== undefined && found !== undefined && isTrue(found)) {
        kept.set(key, line);
        return found;
      }
      const made = await make();
      kept.set(key, JSON.stringify(made));
      return made;
    },
    known: () => undefined,
    step: (_kind, _name, _inputs, make, report = () => undefined) => make(report),
    packed: () => packedLines(head, kept),
  };
}

/**
 * Packed readings of a project, in which the readings of some sources can be replaced. Undefined if they are damaged, or if another version of the
 * reading code made them.
 */
export function openPackedReadings(known: Uint8Array, readerVersion: string) {
  const head = headOf(readerVersion);
  const lines = linesIn(known, head);
  if (lines.size === 0) return undefined;
  const keyOf = ({ path, sha256 }: Pick<ProjectFile, 'path' | 'sha256'>) => keyOfReading('source', path, sha256);
  return {
    source(file: Pick<ProjectFile, 'path' | 'sha256'>): Reading<'source'> | undefined {
      const line = lines.get(keyOf(file));
      return line === undefined ? undefined : readingIn(line, 'source');
    },
    replace(
      before: Pick<ProjectFile, 'path' | 'sha256'>,
      after: Pick<ProjectFile, 'path' | 'sha256'>,
      reading: Reading<'source'>,
    ): void {
      lines.delete(keyOf(before));
      lines.set(keyOf(after), JSON.stringify(reading));
    },
    packed: () => packedLines(head, lines),
  };
}

const headOf = (readerVersion: string): string => JSON.stringify({ format: 1, reader: readerVersion });

const keyOfReading = (kind: ReadingKind, path: string, sha256: string): string => JSON.stringify([kind, path, sha256]);

/** Packs lines by their keys; undefined if they are too large to be kept. */
function packedLines(head: string, lines: ReadonlyMap<string, string>): Uint8Array | undefined {
  const text = [head, ...Array.from(lines, ([key, line]) => `${key}\t${line}`)].join('\n');
  return Buffer.byteLength(text) > mostBytes ? undefined : gzipSync(text, { level: 1 });
}

/** The lines of packed readings by their keys; none if they are damaged, too large, or made by other code. */
function linesIn(known: Uint8Array, head: string): Map<string, string> {
  const lines = new Map<string, string>();
  let text: string;
  try {
    text = gunzipSync(known, { maxOutputLength: mostBytes }).toString();
  } catch {
    return lines;
  }
  const [first, ...others] = text.split('\n');
  if (first !== head) return lines;
  for (const line of others) {
    const tab = line.indexOf('\t');
    if (tab > 0) lines.set(line.slice(0, tab), line.slice(tab + 1));
  }
  return lines;
}

/**
 * Parses a line of the stored readings; undefined if it is not a reading of this kind. The value is returned as it was parsed, so that its properties
 * stay in their order.
 */
function readingIn<K extends ReadingKind>(line: string, kind: K): Reading<K> | undefined {
  const value = jsonIn(line);
  return readingSchemas[kind].safeParse(value).success ? (value as Reading<K>) : undefined;
}
