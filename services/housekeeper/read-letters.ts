import type { z } from 'zod';
import type { DeadLetter, DeadLetterRecord, LetterDecision } from '#shared/contracts/dead-letters.ts';
import { ApiError } from '#shared/http/errors.ts';
import type {
  DeadLetterDetail,
  DeadLetterList,
  InstallationDeadLetter,
  listDeadLettersQuerySchema,
} from '#shared/interfaces/http/installation.ts';
import { idOf, letterHistory, partsOf } from '#shared/messaging/queue/settle-letter.ts';
import { shownMessage, shownStreams } from '#shared/messaging/queue/shown-message.ts';
import type { DocumentStore } from '#shared/messaging/read-models.ts';
import type { StoredMessages } from '#shared/messaging/verify/log-audit.ts';
import { messageOf, Poison } from '#shared/runtime/failures.ts';
import { withDeadline } from '#shared/runtime/with-deadline.ts';

/** The dead letters, and the logs with their messages. */
export type LetterStores = { letters: DocumentStore<DeadLetter>; logs: StoredMessages };

/** Time limit of a part of a letter, so that the others are known within the time of a page. */
const partWithinMs = 1_000;
const longestText = 16_000;
const lettersAtOnce = 200;

/** A page of the dead letters, by service, stream and sequence. One that cannot be read is named with the reason. */
export async function listLetters(
  { letters }: Pick<LetterStores, 'letters'>,
  { state, service, stream, limit, cursor }: z.output<typeof listDeadLettersQuerySchema>,
): Promise<DeadLetterList> {
  const isWanted = (key: string): boolean => {
    const parts = partsOf(key);
    return (service ?? parts.service) === parts.service && (stream ?? parts.stream) === parts.stream;
  };
  const keys = (await letters.keys()).filter(isWanted).toSorted(inOrder);
  const begin = cursor === undefined ? 0 : keys.findIndex((key) => inOrder(key, cursor) > 0);
  const page: DeadLetterList = { deadLetters: [], unreadable: [] };
  const left = begin === -1 ? [] : keys.slice(begin);
  while (left.length > 0) {
    const read = await letters.getMany(left.slice(0, lettersAtOnce));
    const byKey = new Map(read.map((each) => [each.key, each]));
    for (const key of left.splice(0, lettersAtOnce)) {
      if (page.deadLetters.length + page.unreadable.length === limit) return { ...page, nextCursor: lastOf(page) };
      const each = byKey.get(key);
      if (each === undefined) continue;
      if ('problem' in each) page.unreadable.push({ id: key, reason: each.problem });
      else if (state === 'all' || each.document.state === state) page.deadLetters.push(toListed(each.document));
    }
  }
  return page;
}

/** The later one of the last entries of both lists. */
const lastOf = ({ deadLetters, unreadable }: DeadLetterList): string =>
  [deadLetters.at(-1)?.id, unreadable.at(-1)?.id]
    .flatMap((id) => id ?? [])
    .toSorted(inOrder)
    .at(-1) ?? '';

/** Sequences are compared as numbers, so that the oldest message of a stream comes first. */
function inOrder(one: string, other: string): number {
  const [a, b] = [partsOf(one), partsOf(other)];
  return a.service.localeCompare(b.service) || a.stream.localeCompare(b.stream) || a.sequence - b.sequence;
}

const toListed = (letter: DeadLetter): InstallationDeadLetter => {
  const { service, stream, subject, sequence, state, cause, reason, isOrdered, setAsideAt, decision, failed } = letter;
  return {
    id: idOf(letter),
    ...{ service, stream, subject, sequence, state, cause, reason, isOrdered, setAsideAt },
    ...(decision !== undefined && { decision: toDecision(decision) }),
    ...(failed !== undefined && { failed: toDecision(failed) }),
  };
};

export const toDecision = ({ action, by, why, at }: LetterDecision) => ({ action, by, why, at });

/** One letter with its history and its message, also after it was settled. Throws `not_found`. */
export async function readLetter(stores: LetterStores, id: string): Promise<DeadLetterDetail> {
  const { service, stream, sequence } = partsOf(id);
  const problems: DeadLetterDetail['problems'] = [];
  const part = async <T>(name: string, question: Promise<T>): Promise<T | undefined> => {
    const late = () => new Error(`It could not be read within ${partWithinMs / 1_000} s.`);
    return await withDeadline(question, partWithinMs, late).catch((error: unknown) => {
      problems.push({ part: name, reason: messageOf(error) });
      return undefined;
    });
  };
  const isShown = shownStreams.has(stream);
  if (!isShown) problems.push({ part: 'message', reason: `Messages of ${stream} are not shown here.` });
  const [stored, records = [], message] = await Promise.all([
    readable(stores.letters, id),
    part('history', letterHistory(stores, id)),
    isShown ? part('message', stores.logs.message(stream, sequence)) : undefined,
  ]);
  const history = records.filter((record) => idOf(record) === id);
  const last = history.at(-1);
  const letter = typeof stored === 'object' ? toListed(stored) : undefined;
  const subject = letter?.subject ?? last?.subject;
  if (subject === undefined && stored === undefined)
    throw new ApiError('not_found', `There is no dead letter "${id}".`);
  if (typeof stored === 'string') problems.push({ part: 'letter', reason: stored });
  // A sequence that the server used again has a message of another subject.
  const isItsMessage = message !== undefined && (subject === undefined || message.subject === subject);
  if (isShown && !isItsMessage && !problems.some((each) => each.part === 'message'))
    problems.push({ part: 'message', reason: `It is no longer in ${stream}: it expired or was removed.` });
  const isBlocking = letter?.state === 'aside' && letter.isOrdered === true;
  const waiting =
    isBlocking && isShown ? await part('waiting', stores.logs.countAfter(stream, letter.subject, sequence)) : undefined;
  return {
    ...(letter ?? {
      ...{ id, service, stream, sequence, subject: subject ?? message?.subject ?? '' },
      state: stored === undefined ? ('settled' as const) : ('aside' as const),
      reason: typeof stored === 'string' ? stored : (last?.reason ?? ''),
    }),
    attempts: Math.max(history.filter(isFailure).length, letter === undefined ? 0 : 1),
    ...(isItsMessage && { message: shownMessage(message.text, longestText) }),
    ...(waiting !== undefined && { waiting }),
    history: history.map(({ outcome, at, reason, decision }) => ({
      outcome,
      ...(at !== undefined && { at }),
      reason,
      ...(decision !== undefined && { decision: toDecision(decision) }),
    })),
    problems,
  };
}

const isFailure = ({ outcome }: DeadLetterRecord): boolean => outcome === 'set-aside' || outcome === 'failed-again';

/** The stored letter, or the reason as text if it cannot be read. */
async function readable(letters: LetterStores['letters'], id: string): Promise<DeadLetter | string | undefined> {
  try {
    return (await letters.get(id, { fromLeader: true }))?.document;
  } catch (error) {
    if (error instanceof Poison) return messageOf(error);
    throw error;
  }
}
