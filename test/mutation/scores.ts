/** Least score of an area, in percent. */
export const leastScore = 85;

/** The part of Stryker's report that counts: the status of each change, by file. */
export type MutationReport = { files: Readonly<Record<string, { mutants: readonly { status: string }[] }>> };

/** Counts of changes. `timedOut`: a test that never ends notices a change, too. `notReached`: no test runs the code. */
export type Score = { killed: number; timedOut: number; survived: number; notReached: number; percent: number };

/** The score of these files. Changes that do not load count neither way, nor do those that a comment in the code leaves out. */
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
  // Rounded down, so that a score below the least one does not look like it.
  const shown = (Math.floor(percent * 10) / 10).toFixed(1);
  return `${name.padEnd(18)} ${shown.padStart(5)} %   ${killed} killed, ${timedOut} timed out, ${survived} survived, ${notReached} not reached`;
}
