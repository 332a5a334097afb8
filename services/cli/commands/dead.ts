import { hostname, userInfo } from 'node:os';
import type { Command } from 'commander';
import { z } from 'zod';
import {
  type DeadLetter,
  deadLetterKey,
  type DeadLetterRecord,
  deadLetterRecordSchema,
  type LetterDecision,
} from '#shared/contracts/dead-letters.ts';
import type { BusParts } from '#shared/messaging/bus.ts';
import type { StoredText } from '#shared/messaging/event-log.ts';
import { deadLetterSubject } from '#shared/messaging/subjects/subject-names.ts';
import type { LogAudit } from '#shared/messaging/verify/log-audit.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { withBus, withinDeadline } from '../bus-connection.ts';
import { type BusCommandOptions, parsed, withBusOptions } from '../command-options.ts';
import { counted, printable } from '../format.ts';
import { createOutput, textTable } from '../terminal.ts';

/** What the command works with: the letters that are set aside, and the logs as an operator reads them. */
export type LetterStores = { letters: BusParts['deadLetters']; logs: Pick<LogAudit, 'stored'> };

const letterId = z
  .string()
  .regex(/^[a-z-]+\.[A-Z]+\.[1-9]\d*$/, 'It must be the id of a letter as "bindery dead list" shows it.');
const listedStreams = new Set(['EXPORTS', 'FACTS', 'CONTENT', 'DIRECTORY', 'ACCESS']);

export function deadCommand(program: Command): void {
  const dead = program.command('dead').description('messages that a service could not handle, and set aside');
  withBusOptions(dead.command('list'))
    .description('list the messages that are set aside, with the reason')
    .option('--history', 'list what happened to dead letters instead: when, who and why (400 days)', false)
    .action((options: BusCommandOptions & { history: boolean }) =>
      withStores(options, (stores) => list(stores, options)),
    );
  withBusOptions(dead.command('show'))
    .description('show one of them: the reason, the message, and what waits behind it')
    .argument('<letter>', 'id of the letter, such as projector.EXPORTS.7', parsed(letterId))
    .action((id: string, options: BusCommandOptions) => withStores(options, (stores) => show(stores, id, options)));
  for (const [action, description] of [
    ['retry', 'give messages back to the service that set them aside, with those that wait behind them'],
    ['drop', 'give messages up for good; those that wait behind them go on'],
  ] as const) {
    withBusOptions(dead.command(action))
      .description(description)
      .argument('<letters...>', 'ids of letters, such as projector.EXPORTS.7')
      .requiredOption('--why <reason>', 'why, for those who audit it')
      .option('--by <name>', 'who decides this', defaultName())
      .action((ids: string[], options: DecideOptions) =>
        withStores(options, (stores) => decideAll(stores, action, ids, options)),
      );
  }
}

type DecideOptions = BusCommandOptions & { why: string; by: string };

const defaultName = (): string => `${userInfo().username}@${hostname()}`;

function withStores(options: BusCommandOptions, work: (stores: LetterStores) => Promise<void>): Promise<void> {
  const { data } = options;
  return withBus('operator', data === undefined ? {} : { data }, async (bus, access) => {
    const { openLogAudit } = await import('#shared/messaging/nats/log-audit.ts');
    const logs = await withinDeadline(access, openLogAudit(access));
    try {
      await work({ letters: bus.deadLetters, logs });
    } finally {
      await logs.close();
    }
  });
}

async function list(stores: LetterStores, { json, history }: BusCommandOptions & { history: boolean }): Promise<void> {
  const output = createOutput(json);
  if (history) {
    const records = await letterHistory(stores);
    const rows = records.map((record) => [
      idOf(record),
      record.at ?? '',
      record.outcome,
      record.decision === undefined ? '' : `${record.decision.by}: ${printable(record.decision.why)}`,
      printable(record.reason),
    ]);
    const text =
      rows.length === 0
        ? 'Nothing was set aside in the last 400 days.'
        : textTable(['letter', 'when', 'what', 'who and why', 'reason'], rows);
    output.result({ records }, text);
    return;
  }
  const letters = (await allLetters(stores)).filter(({ state }) => state === 'aside');
  const rows = letters.map((letter) => [
    idOf(letter),
    letter.subject,
    letter.setAsideAt,
    stateText(letter),
    printable(letter.reason),
  ]);
  const text =
    rows.length === 0 ? 'Nothing is set aside.' : textTable(['letter', 'subject', 'since', 'state', 'reason'], rows);
  output.result({ letters }, text);
}

function stateText({ cause, decision }: DeadLetter): string {
  if (decision !== undefined) return decision.action === 'retry' ? 'is being retried' : 'is being dropped';
  return cause === 'newer' ? 'waits for an upgrade' : 'waits for you';
}

async function show(stores: LetterStores, id: string, { json }: BusCommandOptions): Promise<void> {
  const letter = (await stores.letters.get(id, { fromLeader: true }))?.document;
  const history = (await letterHistory(stores, id)).filter((record) => idOf(record) === id);
  const subject = letter?.subject ?? history[0]?.subject;
  if (subject === undefined) throw new NoSuchLetter(id);
  const { stream, sequence } = partsOf(id);
  const stored = listedStreams.has(stream) ? await stores.logs.stored(stream, subject) : [];
  const message = stored.find((one) => one.sequence === sequence);
  const waiting = letter?.state === 'aside' && letter.isOrdered ? stored.filter((one) => one.sequence > sequence) : [];
  const said = message === undefined ? 'The message is not in its stream any more.' : indented(message.text);
  const lines = [
    ...(letter === undefined
      ? [`${id} is settled.`]
      : [`${id} (${subject}) ${stateText(letter)}: ${printable(letter.reason)}`]),
    '',
    said,
    '',
    waiting.length === 0
      ? 'Nothing waits behind it.'
      : `${counted(waiting.length, 'message waits', 'messages wait')} behind it:`,
    ...waiting.map((one) => `  message ${one.sequence}: ${eventsIn(one)}`),
    '',
    ...history.map((record) => `${record.at ?? 'earlier'}  ${record.outcome}${whoAndWhy(record)}`),
  ];
  createOutput(json).result({ letter, message, waiting, history }, lines.join('\n').trimEnd());
}

const whoAndWhy = ({ decision }: DeadLetterRecord): string =>
  decision === undefined ? '' : ` by ${printable(decision.by)}: ${printable(decision.why)}`;

function indented(text: string): string {
  const shown = parsedJson(text);
  const pretty = shown === undefined ? text : JSON.stringify(shown, undefined, 2);
  return pretty.split('\n').map(printableLine).join('\n');
}

/** Keeps the indentation. */
const printableLine = (line: string): string => `${/^ */.exec(line)?.[0] ?? ''}${printable(line)}`;

function eventsIn({ text }: StoredText): string {
  const events = z
    .object({ data: z.object({ events: z.array(z.object({ type: z.string() })) }) })
    .safeParse(parsedJson(text));
  return events.success ? events.data.data.events.map(({ type }) => printable(type)).join(', ') : 'not readable';
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Exit code 1 when a message failed once more, or nobody did what was asked for. */
async function decideAll(
  stores: LetterStores,
  action: LetterDecision['action'],
  ids: readonly string[],
  { why, by, json }: DecideOptions,
): Promise<void> {
  const output = createOutput(json);
  const settled: SettledLetter[] = [];
  for (const id of ids.map(parsed(letterId))) {
    const at = new Date().toISOString();
    const one = await settleLetter(stores, id, { id: `dd_${randomBase62(22)}`, action, by, why, at });
    settled.push(one);
    output.note(settledLine(one));
    if (one.outcome === 'failed-again') process.exitCode = 1;
  }
  const failed = settled.filter(({ outcome }) => outcome === 'failed-again').length;
  output.result(
    { settled },
    `${counted(settled.length - failed, 'letter')} settled${failed > 0 ? `, ${failed} failed again` : ''}`,
  );
}

function settledLine({ letter, outcome, decision, reason, already }: SettledLetter): string {
  if (outcome === 'failed-again') return `${letter}: failed again: ${printable(reason ?? '')}`;
  const before = already && decision !== undefined ? ` before, by ${printable(decision.by)} at ${decision.at}` : '';
  return `${letter}: ${outcome}${before}`;
}

export type SettledLetter = {
  letter: string;
  outcome: 'retried' | 'dropped' | 'failed-again';
  decision: LetterDecision | undefined;
  /** Why it failed again. */
  reason?: string;
  /** It had been settled when the command began. */
  already: boolean;
};

/** No letter has this id; the message says where to look. */
class NoSuchLetter extends Error {
  override name = 'NoSuchLetter';

  constructor(id: string) {
    super(
      `There is no dead letter "${id}". "bindery dead list" shows those that are set aside, with --history also earlier ones.`,
    );
  }
}

/** Somebody else decided something else about the letter, and it is being done. */
class DecidedOtherwise extends Error {
  override name = 'DecidedOtherwise';
}

/** No process of the service did what was asked for; the message says that it is kept. */
class NotSettled extends Error {
  override name = 'NotSettled';
}

const settledWithinMs = 20_000;

/**
 * Stores what is decided about a letter, and waits until its service has done it. It can be repeated, also after it died halfway: the same
 * action again waits for the first. Throws `NoSuchLetter`, `DecidedOtherwise` and `NotSettled`.
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
        `${decision.by} wanted to ${decision.action} ${id} at ${decision.at}, and that is not done yet. Wait for it, or start its service.`,
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

/** A letter that is not in the bucket: it was settled, or an older program set it aside and knew no bucket. */
async function letterFromHistory(stores: LetterStores, id: string): Promise<DeadLetter | SettledLetter> {
  const last = (await letterHistory(stores, id)).findLast((record) => idOf(record) === id);
  if (last === undefined) throw new NoSuchLetter(id);
  const { service, stream, subject, sequence, reason, at, outcome, decision } = last;
  if (outcome === 'retried' || outcome === 'dropped') return { letter: id, outcome, decision, already: true };
  if (outcome === 'given-up') throw new NoSuchLetter(id);
  const isOrdered = service === 'projector' && stream !== 'ACCESS';
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
  throw new NotSettled(
    `No ${partsOf(id).service} did this within ${withinMs / 1_000} s. Is one running? What you decided is kept: the next one that starts does it.`,
  );
}

async function allLetters({ letters }: LetterStores): Promise<DeadLetter[]> {
  const found: DeadLetter[] = [];
  const stop = new AbortController();
  for await (const change of letters.watch('>', stop.signal)) {
    if (change.kind === 'put') found.push(change.document);
    if (change.kind === 'caught-up') stop.abort();
  }
  return found.toSorted((a, b) => a.setAsideAt.localeCompare(b.setAsideAt) || a.sequence - b.sequence);
}

/** What happened to all letters, or to those of the service and stream of one; oldest first. */
async function letterHistory({ logs }: LetterStores, id?: string): Promise<DeadLetterRecord[]> {
  const { service, stream } = id === undefined ? { service: '*', stream: '*' } : partsOf(id);
  const messages = await logs.stored('DEAD', deadLetterSubject(service, stream));
  return messages.flatMap(({ text }) => deadLetterRecordSchema.safeParse(parsedJson(text)).data ?? []);
}

const idOf = ({ service, stream, sequence }: DeadLetter | DeadLetterRecord): string =>
  deadLetterKey(service, stream, sequence);

function partsOf(id: string): { service: string; stream: string; sequence: number } {
  const [service = '', stream = '', sequence = ''] = id.split('.');
  return { service, stream, sequence: Number(sequence) };
}
