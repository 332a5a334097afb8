import {
  type DeadLetter,
  deadLetterKey,
  type DeadLetterRecord,
  deadLetterRecordSchema,
  type LetterDecision,
} from '#shared/contracts/dead-letters.ts';
import type { BusParts } from '#shared/messaging/bus.ts';
import { deadLetterSubject } from '#shared/messaging/subjects/subject-names.ts';
import type { LogAudit } from '#shared/messaging/verify/log-audit.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';

/** The dead letters, and the logs as an operator reads them. */
export type LetterStores = { letters: BusParts['deadLetters']; logs: Pick<LogAudit, 'stored'> };

export type SettledLetter = {
  letter: string;
  outcome: 'retried' | 'dropped' | 'failed-again';
  decision: LetterDecision | undefined;
  /** The reason of the new failure. */
  reason?: string;
  /** True if the letter was settled before the command began. */
  already: boolean;
};

/** Thrown for an unknown letter id. */
export class NoSuchLetter extends Error {
  override name = 'NoSuchLetter';

  constructor(id: string) {
    super(
      `There is no dead letter "${id}". "bindery dead list" shows those that are set aside, with --history also earlier ones.`,
    );
  }
}

/** Thrown if another decision about the letter is in progress. */
export class DecidedOtherwise extends Error {
  override name = 'DecidedOtherwise';
}

/** Thrown if no process of the service carried out the decision; the message says that it is kept. */
export class NotSettled extends Error {
  override name = 'NotSettled';
  readonly decision: LetterDecision;

  constructor(id: string, decision: LetterDecision, withinMs: number) {
    super(
      `No ${partsOf(id).service} carried this out within ${withinMs / 1_000} s. Check that one is running. Your decision is kept, and the next process of this service carries it out.`,
    );
    this.decision = decision;
  }
}

const settledWithinMs = 20_000;

/**
 * Stores a decision about a letter, and waits until its service has carried it out. Idempotent, also after a crash: repeating the same action waits
 * for the first. Throws `NoSuchLetter`, `DecidedOtherwise` and `NotSettled`.
 */
export async function settleLetter(
  stores: LetterStores,
  id: string,
  wanted: LetterDecision,
  withinMs = settledWithinMs,
): Promise<SettledLetter> {
  const { letters } = stores;
  for (;;) {
    const stored = await letters.get(id, { fromLeader: true });
    const letter = stored?.document ?? (await letterFromHistory(stores, id));
    if ('outcome' in letter) return letter;
    if (letter.state === 'dropped') return { letter: id, outcome: 'dropped', decision: letter.decision, already: true };
    const { decision } = letter;
    if (decision !== undefined && decision.action !== wanted.action) {
      throw new DecidedOtherwise(
        `${decision.by} decided at ${decision.at} to ${decision.action} ${id}, and this is not carried out yet. Wait for it, or start its service.`,
      );
    }
    if (decision !== undefined) return whenSettled(letters, id, decision, withinMs);
    const revision = await letters.put(
      id,
      { ...letter, decision: wanted },
      { expectedRevision: stored?.revision ?? 0 },
    );
    if (revision !== undefined) return whenSettled(letters, id, wanted, withinMs);
  }
}

/** A letter that is not in the bucket: it was settled, or set aside by an older program without the bucket. */
async function letterFromHistory(stores: LetterStores, id: string): Promise<DeadLetter | SettledLetter> {
  const last = (await letterHistory(stores, id)).findLast((record) => idOf(record) === id);
  if (last === undefined) throw new NoSuchLetter(id);
  const { service, stream, subject, sequence, reason, at, outcome, decision } = last;
  if (outcome === 'retried' || outcome === 'dropped') return { letter: id, outcome, decision, already: true };
  if (outcome === 'given-up') throw new NoSuchLetter(id);
  const isOrdered = service === 'projector' && stream !== 'ACCESS' && stream !== 'VIEWS';
  const setAsideAt = at ?? new Date().toISOString();
  return { service, stream, subject, sequence, reason, isOrdered, setAsideAt, state: 'aside', cause: 'poison' };
}

async function whenSettled(
  letters: LetterStores['letters'],
  id: string,
  decision: LetterDecision,
  withinMs: number,
): Promise<SettledLetter> {
  const late = AbortSignal.timeout(withinMs);
  const settled = { letter: id, decision, already: false };
  let isThere = false;
  const isSettled = async () => (await letters.get(id, { fromLeader: true })) === undefined;
  for await (const change of letters.watch(id, late)) {
    const isGone = change.kind === 'caught-up' && !isThere && (await isSettled());
    if (change.kind === 'removed' || isGone) return { ...settled, outcome: 'retried' };
    if (change.kind !== 'put') continue;
    isThere = true;
    const { state, failed } = change.document;
    if (state === 'dropped') return { ...settled, outcome: 'dropped' };
    if (failed?.id === decision.id) return { ...settled, outcome: 'failed-again', reason: failed.reason };
  }
  throw new NotSettled(id, decision, withinMs);
}

/** Records of all letters, or of the service and stream of one letter; oldest first. */
export async function letterHistory({ logs }: LetterStores, id?: string): Promise<DeadLetterRecord[]> {
  const { service, stream } = id === undefined ? { service: '*', stream: '*' } : partsOf(id);
  const messages = await logs.stored('DEAD', deadLetterSubject(service, stream));
  return messages.flatMap(({ text }) => deadLetterRecordSchema.safeParse(jsonIn(text)).data ?? []);
}

export const idOf = ({ service, stream, sequence }: DeadLetter | DeadLetterRecord): string =>
  deadLetterKey(service, stream, sequence);

export function partsOf(id: string): { service: string; stream: string; sequence: number } {
  const [service = '', stream = '', sequence = ''] = id.split('.');
  return { service, stream, sequence: Number(sequence) };
}
