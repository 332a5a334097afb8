import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aligned } from '#services/cli/terminal.ts';
import { median } from '../../support/chaos/watch-answers.ts';

export type Stoppable = { stop(): Promise<unknown> };

/** Input of a measurement. */
export type Bench = {
  /** Number of runs, whose median is printed. */
  runs: number;
  /** Number of ended jobs, in log and archive together, for measurements with them. */
  endedJobs: number;
  /** Numbers of pages, for measurements by the size of a site. */
  sizes: readonly number[];
  print(text: string): void;
  /** Prints progress, which is not part of the result. */
  progress(text: string): void;
  /** Works with a resource and stops it afterwards, also after a failure, and on Ctrl-C even while it starts. */
  using<T extends Stoppable, R>(starting: Promise<T>, work: (started: T) => Promise<R>): Promise<R>;
};

/** One measurement, by the name that the command takes. */
export type Measurement = { name: string; about: string; run(bench: Bench): Promise<void> };

export type OpenInstallations = Pick<Bench, 'using'> & {
  /** Stops every resource that is open or starting; work with it then fails. */
  stopAll(): Promise<void>;
};

/** Everything that a benchmark has started and not yet stopped. */
export function openInstallations(): OpenInstallations {
  const open = new Set<() => Promise<unknown>>();
  return {
    async using(starting, work) {
      let stopped: Promise<unknown> | undefined;
      const stop = () => {
        stopped ??= starting.then(
          (started) => started.stop(),
          () => undefined,
        );
        return stopped;
      };
      open.add(stop);
      try {
        return await work(await starting);
      } finally {
        await stop();
        open.delete(stop);
      }
    },
    async stopAll() {
      await Promise.allSettled([...open].map((stop) => stop()));
    },
  };
}

/** Text columns as wide as their widest cell: the first to the left, the others to the right. Pure. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const [titles = [], ...lines] = aligned([head, ...rows], (column) => column > 0);
  const rule = titles.map((title) => '-'.repeat(title.length));
  return [titles, rule, ...lines].map((cells) => `  ${cells.join('   ')}`.trimEnd()).join('\n');
}

const notMeasured = 'not measured';

/** A number with three significant digits: "0.0123", "1.23", "123", "12,300". Pure. */
export function shown(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return notMeasured;
  return value >= 1_000
    ? Math.round(Number(value.toPrecision(3))).toLocaleString('en')
    : String(Number(value.toPrecision(3)));
}

/** A value as a multiple of `reference`: "1.23 ×". Pure. */
export function ratio(value: number | undefined, reference: number | undefined): string {
  if (value === undefined || reference === undefined || !(reference > 0)) return notMeasured;
  return `${(value / reference).toFixed(value / reference < 0.1 ? 3 : 2)} ×`;
}

/** The median of measurements; undefined when one is missing. Pure. */
export function medianOf(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length < values.length || known.length === 0 ? undefined : median(known);
}

export async function temporaryFolder(): Promise<Stoppable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'bindery-bench-'));
  return { path, stop: () => rm(path, { recursive: true, force: true }) };
}
