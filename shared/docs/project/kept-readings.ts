import type { Finding } from '#shared/docs/findings/finding-texts.ts';
import type { Report } from './diagnostics.ts';
import type { ProjectFile } from './project-files.ts';
import type { Reading, Readings } from './readings.ts';

/** Readings that stay in memory, for a process that reads the same project again and again. */
export type KeptReadings = Readings & {
  /** The kept reading of a page or snippet, whatever the version of the file. */
  source(path: string): Reading<'source'> | undefined;
  /** Drops the readings and outcomes that were not used since the last call. Called after each reading of the whole project. */
  dropUnused(): void;
};

type Kept = { sha256: string; reading: unknown; round: number };
type Step = { inputs: readonly unknown[]; outcome: unknown; findings: readonly Finding[]; round: number };

/**
 * Readings by kind and path, each of the last version of its file, and the outcomes of steps by kind and name, each for the last inputs. They are kept
 * as values, because unpacking those of 25,000 pages takes longer than reading the project.
 */
export function keptReadings(): KeptReadings {
  const kept = new Map<string, Map<string, Kept>>();
  const steps = new Map<string, Map<string, Step>>();
  let round = 0;
  return {
    async of(kind, file: ProjectFile, make, isTrue = () => true) {
      const found = this.known(kind, file);
      if (found !== undefined && isTrue(found)) return found;
      const reading = await make();
      inner(kept, kind).set(file.path, { sha256: file.sha256, reading, round });
      return reading;
    },
    known<K extends Parameters<Readings['of']>[0]>(kind: K, file: ProjectFile) {
      const found = kept.get(kind)?.get(file.path);
      if (found?.sha256 !== file.sha256) return undefined;
      found.round = round;
      return found.reading as Reading<K>;
    },
    step<T>(
      kind: string,
      name: string,
      inputs: readonly unknown[],
      make: (report: Report) => T,
      report: Report = () => undefined,
    ) {
      const found = steps.get(kind)?.get(name);
      if (found !== undefined && isSame(found.inputs, inputs)) {
        found.round = round;
        for (const finding of found.findings) report(finding);
        return found.outcome as T;
      }
      const findings: Finding[] = [];
      const outcome = make((finding) => {
        findings.push(finding);
        report(finding);
      });
      inner(steps, kind).set(name, { inputs, outcome, findings, round });
      return outcome;
    },
    source: (path) => kept.get('source')?.get(path)?.reading as Reading<'source'> | undefined,
    dropUnused() {
      for (const all of [...kept.values(), ...steps.values()])
        for (const [name, each] of all) if (each.round !== round) all.delete(name);
      round += 1;
    },
    packed: () => undefined,
  };
}

function inner<T>(maps: Map<string, Map<string, T>>, kind: string): Map<string, T> {
  const found = maps.get(kind) ?? new Map<string, T>();
  maps.set(kind, found);
  return found;
}

const isSame = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((value, at) => value === b[at]);
