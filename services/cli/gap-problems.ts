import type { ChainProblem } from '#shared/event-log/verify-chain.ts';
import type { LogAudit } from '#shared/nats/log-audit.ts';

/** Messages that a stream has not any more and that `archivedSequences` do not explain, as holes of the stream. */
export async function gapProblems(
  log: LogAudit,
  stream: string,
  archivedSequences: ReadonlySet<number>,
): Promise<ChainProblem[]> {
  const gaps = (await log.gaps(stream)).flatMap((gap) => withoutSequences(gap, archivedSequences));
  return gaps.map(({ first, last }) => ({
    problem: 'hole',
    subject: stream,
    sequence: first,
    message: `Message${first === last ? ` ${first} is` : `s ${first} to ${last} are`} missing from the stream.`,
  }));
}

/** What is left of a range of sequences. */
function withoutSequences(
  { first, last }: { first: number; last: number },
  explained: ReadonlySet<number>,
): { first: number; last: number }[] {
  const left: { first: number; last: number }[] = [];
  for (let sequence = first; sequence <= last; sequence += 1) {
    if (explained.has(sequence)) continue;
    const newest = left.at(-1);
    if (newest?.last === sequence - 1) newest.last = sequence;
    else left.push({ first: sequence, last: sequence });
  }
  return left;
}
