import { setImmediate } from 'node:timers/promises';
import type { Actor, Commit, CommitEvent, RequestBehind } from '#shared/contracts/commit.ts';
import { canonicalJson, jsonIn, sha256OfJson } from '#shared/runtime/canonical-json.ts';
import type { StoredCommit, StoredText } from './event-log.ts';

export type CommitOrigin = {
  /** Id of the new commit. Two appends with the same id are the same commit. */
  id: string;
  source: string;
  actor: Actor;
  time: Date;
  causationId: string;
  correlationId: string;
  request?: RequestBehind | undefined;
  traceparent?: string | undefined;
};

/** The commit that follows `previous` on `subject`: numbered, chained by hash, with the state after its events. Pure. */
export function nextCommit<E extends CommitEvent, S>(
  subject: string,
  previous: StoredCommit<Commit<E, S>> | undefined,
  events: E[],
  state: S,
  origin: CommitOrigin,
): Commit<E, S> {
  const { time, ...rest } = origin;
  const unsealed = {
    specversion: '1.0' as const,
    type: 'bindery.commit' as const,
    subject,
    ...rest,
    time: time.toISOString(),
    revision: (previous?.commit.revision ?? 0) + 1,
    previousSequence: previous?.sequence ?? 0,
    previousHash: previous?.commit.hash ?? '',
    data: { events, state },
  };
  return { ...unsealed, hash: commitHash(unsealed) };
}

/** SHA-256 over all fields of a commit except `hash`. */
export function commitHash(commit: Omit<Commit, 'hash'> & { hash?: string }): string {
  const { hash: _, ...content } = commit;
  return sha256OfJson(content);
}

/**
 * Kinds of damage in a history.
 * - `hole`: commits are missing.
 * - `swapped`: a commit comes after a later one, or twice.
 * - `moved`: the commit is not at the place that its successor names.
 * - `changed`: the bytes differ from those that were written.
 * - `wrong-subject`: the commit belongs to another aggregate.
 * - `wrong-state`: the stored state differs from the fold of the events.
 * - `unreadable`: the message is not a commit, or has a version that this program does not know.
 * - `unanchored`: no anchor made with the audit key covers the commit.
 * - `bundle`: the stored bundle differs from the one that the history names.
 */
export type ChainProblem = {
  problem:
    | 'hole'
    | 'swapped'
    | 'moved'
    | 'changed'
    | 'wrong-subject'
    | 'wrong-state'
    | 'unreadable'
    | 'unanchored'
    | 'bundle';
  subject: string;
  /** Stream sequence of the message at which the problem was found. */
  sequence: number;
  revision?: number;
  /** The problem as a sentence. */
  message: string;
};

export type ChainFold<S, E extends CommitEvent> = {
  /** The stored commit, upcast to the newest version. Throws a sentence that names the problem. */
  read(stored: unknown): Commit<E, S>;
  evolve(state: S | undefined, event: E, commit: Commit<E, S>): S;
};

type Link = { stored: Commit; sequence: number };

/**
 * All problems in the stored commits of one subject, which are given in stream order; empty when the history is whole. With `fold` the
 * states are checked, too. A chain cannot show a lost tail: compare the last commit with a known head for that. Pure.
 */
export function verifyChain<S, E extends CommitEvent>(
  subject: string,
  messages: readonly StoredText[],
  fold?: ChainFold<S, E>,
): ChainProblem[] {
  const check = chainCheck(subject, messages, fold);
  for (;;) {
    const step = check.next();
    if (step.done === true) return step.value;
  }
}

const longestTurnMs = 10;

/** The same as `verifyChain`, in turns: a service that verifies a long history still answers, and renews its leases. */
export async function verifyChainInTurns<S, E extends CommitEvent>(
  subject: string,
  messages: readonly StoredText[],
  fold?: ChainFold<S, E>,
): Promise<ChainProblem[]> {
  const check = chainCheck(subject, messages, fold);
  for (let turnBeganAt = performance.now(); ; ) {
    const step = check.next();
    if (step.done === true) return step.value;
    if (performance.now() - turnBeganAt < longestTurnMs) continue;
    await setImmediate();
    turnBeganAt = performance.now();
  }
}

/** The check of a chain, which can pause after each commit. */
function* chainCheck<S, E extends CommitEvent>(
  subject: string,
  messages: readonly StoredText[],
  fold: ChainFold<S, E> | undefined,
): Generator<void, ChainProblem[], void> {
  const problems: ChainProblem[] = [];
  const report = (problem: ChainProblem['problem'], at: { sequence: number; revision?: number }, message: string) =>
    problems.push({ problem, subject, ...at, message });

  const links: Link[] = [];
  for (const message of messages) {
    const stored = readCommit(message.text);
    if (stored === undefined) report('unreadable', { sequence: message.sequence }, 'The message is not a commit.');
    else links.push({ stored, sequence: message.sequence });
    if (message.subject !== subject || (stored !== undefined && stored.subject !== subject)) {
      const other = message.subject === subject ? stored?.subject : message.subject;
      report('wrong-subject', placeOf(message.sequence, stored), `The message belongs to ${other}.`);
    }
    if (stored !== undefined && !isAsWritten(message.text, stored)) {
      report('changed', placeOf(message.sequence, stored), 'The bytes of the commit do not match its hash.');
    }
    yield;
  }

  const byRevision = new Map<number, Link>();
  let highest = 0;
  for (const link of links) {
    const { revision } = link.stored;
    if (byRevision.has(revision)) report('swapped', placeOf(link.sequence, link.stored), 'The revision occurs twice.');
    else if (revision < highest) {
      report('swapped', placeOf(link.sequence, link.stored), `The revision comes after revision ${highest}.`);
    }
    if (!byRevision.has(revision)) byRevision.set(revision, link);
    highest = Math.max(highest, revision);
  }
  const inOrder = [...byRevision.values()].toSorted((a, b) => a.stored.revision - b.stored.revision);
  checkLinks(inOrder, problems, report);
  if (fold !== undefined) yield* checkStates(inOrder, fold, report);
  return problems.toSorted((a, b) => a.sequence - b.sequence);
}

type Report = (problem: ChainProblem['problem'], at: { sequence: number; revision?: number }, message: string) => void;

/** Compares each commit with the one before, by revision. Once messages are out of order, their sequences prove nothing. */
function checkLinks(links: readonly Link[], problems: readonly ChainProblem[], report: Report): void {
  const changed = new Set(problems.filter(({ problem }) => problem === 'changed').map(({ sequence }) => sequence));
  const outOfOrder = problems.some(({ problem }) => problem === 'swapped');
  let previous: Link | undefined;
  for (const { stored, sequence } of links) {
    const at = placeOf(sequence, stored);
    const expected = (previous?.stored.revision ?? 0) + 1;
    if (stored.revision > expected) {
      const missing =
        stored.revision - 1 > expected ? `s ${expected} to ${stored.revision - 1} are` : ` ${expected} is`;
      report('hole', at, `Revision${missing} missing before it.`);
    } else {
      if (stored.previousSequence !== (previous?.sequence ?? 0) && !outOfOrder) {
        report(
          'moved',
          at,
          `It was written after message ${stored.previousSequence}, but the one before it is ${previous?.sequence ?? 0}.`,
        );
      }
      if (stored.previousHash !== (previous?.stored.hash ?? '') && !(previous && changed.has(previous.sequence))) {
        if (previous === undefined) report('hole', at, 'It is the first, but was written after another commit.');
        else {
          report(
            'changed',
            placeOf(previous.sequence, previous.stored),
            `Its hash differs from the one that revision ${stored.revision} was chained to.`,
          );
        }
      }
    }
    previous = { stored, sequence };
  }
}

/** Folds from one commit to the next. After a hole it continues with the stored state. */
function* checkStates<S, E extends CommitEvent>(
  links: readonly Link[],
  fold: ChainFold<S, E>,
  report: Report,
): Generator<void, void, void> {
  let previous: Commit<E, S> | undefined;
  for (const { stored, sequence } of links) {
    const at = placeOf(sequence, stored);
    let commit: Commit<E, S> | undefined;
    try {
      const read = (commit = fold.read(stored));
      const follows = read.revision === (previous?.revision ?? 0) + 1;
      if (follows) {
        const folded = read.data.events.reduce<S | undefined>(
          (state, event) => fold.evolve(state, event, read),
          previous?.data.state,
        );
        if (canonicalJson(folded) !== canonicalJson(read.data.state)) {
          report('wrong-state', at, 'The state differs from the fold of its events on the previous state.');
        }
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (commit === undefined) report('unreadable', at, `The commit cannot be read: ${reason}`);
      else report('wrong-state', at, `The events cannot be folded: ${reason}`);
    }
    previous = commit;
    yield;
  }
}

/** The fields that place a commit in its history. The schema of its kind checks the rest. */
function readCommit(text: string): Commit | undefined {
  const json = jsonIn(text);
  const isCommit =
    typeof json === 'object' &&
    json !== null &&
    'data' in json &&
    'hash' in json &&
    'revision' in json &&
    Number.isSafeInteger(json.revision);
  return isCommit ? (json as unknown as Commit) : undefined;
}

/**
 * Writers store the output of `JSON.stringify`, so comparing with it shows even a changed byte that changes no value (a space, a repeated
 * name).
 */
function isAsWritten(text: string, stored: Commit): boolean {
  try {
    return commitHash(stored) === stored.hash && JSON.stringify(stored) === text;
  } catch {
    // The number is too large or the brackets are nested too deep. Such a message does not come from a writer of this project.
    return false;
  }
}

const placeOf = (sequence: number, stored: Commit | undefined): { sequence: number; revision?: number } =>
  stored === undefined ? { sequence } : { sequence, revision: stored.revision };
