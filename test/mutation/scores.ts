/** Least score of an area, in percent. */
export const leastScore = 85;

/** The part of Stryker's report that counts: the status of each change, by file. */
export type MutationReport = { files: Readonly<Record<string, { mutants: readonly { status: string }[] }>> };

/** Counts of changes. `timedOut`: changes that made a test endless, which counts as noticed. `notReached`: changes of code that no test runs. */
export type Score = { killed: number; timedOut: number; survived: number; notReached: number; percent: number };

/** The score of these files. Changes whose code does not load, and changes that a comment in the code leaves out, do not count. */
export function scoreOf({ files }: MutationReport, names: readonly string[]): Score {
  const statuses = names.flatMap((name) => files[name]?.mutants ?? []).map(({ status }) => status);
  const count = (wanted: string): number => statuses.filter((status) => status === wanted).length;
  const [killed, timedOut] = [count('Killed'), count('Timeout')];
  const [survived, notReached] = [count('Survived'), count('NoCoverage')];
  const all = killed + timedOut + survived + notReached;
  return { killed, timedOut, survived, notReached, percent: all === 0 ? 100 : (100 * (killed + timedOut)) / all };
}

/** One line of the table of scores. `score` is undefined if the area could not be tested. */
export function scoreLine(name: string, score: Score | undefined): string {
  if (score === undefined) return `${name.padEnd(18)} failed; see above`;
  const { killed, timedOut, survived, notReached, percent } = score;
  // The score is rounded down, so that one just below the least score is not shown as reaching it.
  const shown = (Math.floor(percent * 10) / 10).toFixed(1);
  return `${name.padEnd(18)} ${shown.padStart(5)} %   ${killed} killed, ${timedOut} timed out, ${survived} survived, ${notReached} not reached`;
}
