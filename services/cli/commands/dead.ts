import { hostname, userInfo } from 'node:os';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { type DeadLetter, type DeadLetterRecord, type LetterDecision } from '#shared/contracts/dead-letters.ts';
import type { StoredText } from '#shared/messaging/log/event-log.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { withBus, withinDeadline } from '../bus-connection.ts';
import { type BusCommandOptions, parsed, withBusOptions } from '../command-options.ts';
import { counted, printable } from '#shared/runtime/figures.ts';
import {
  idOf,
  letterHistory,
  type LetterStores,
  NoSuchLetter,
  partsOf,
  type SettledLetter,
  settleLetter,
} from '#shared/messaging/queue/settle-letter.ts';
import { shownStreams, withoutSecrets } from '#shared/messaging/queue/shown-message.ts';
import { createOutput, textTable } from '../terminal.ts';

const letterId = z
  .string()
  .regex(/^[a-z-]+\.[A-Z]+\.[1-9]\d*$/, 'must be the id of a letter as "bindery dead list" shows it');

export function deadCommand(program: Command): void {
  const dead = program
    .command('dead')
    .description('dead letters: messages that a service could not handle and set aside');
  withBusOptions(dead.command('list'))
    .description('list the dead letters with their reasons')
    .option('--history', 'list the history of dead letters instead, with times, actors and reasons (400 days)', false)
    .action((options: BusCommandOptions & { history: boolean }) =>
      withStores(options, (stores) => list(stores, options)),
    );
  withBusOptions(dead.command('show'))
    .description('show a dead letter: its reason, its message, and the messages that wait behind it')
    .argument('<letter>', 'id of the letter, such as projector.EXPORTS.7', parsed(letterId))
    .action((id: string, options: BusCommandOptions) => withStores(options, (stores) => show(stores, id, options)));
  for (const [action, description] of [
    ['retry', 'retry dead letters, and then the messages that wait behind them'],
    ['drop', 'drop dead letters permanently; the messages that wait behind them are handled'],
  ] as const) {
    withBusOptions(dead.command(action))
      .description(description)
      .argument('<letters...>', 'ids of letters, such as projector.EXPORTS.7', (id: string, before?: string[]) => [
        ...(before ?? []),
        parsed(letterId)(id),
      ])
      .requiredOption('--why <reason>', 'reason, recorded for audits')
      .addOption(new Option('--by <name>', 'who decides this').default(defaultName(), 'you, on this machine'))
      .action((ids: string[], options: DecideOptions) =>
        withStores(options, (stores) => decideAll(stores, action, ids, options)),
      );
  }
}

type DecideOptions = BusCommandOptions & { why: string; by: string };

/** Name of the user and the machine. In many containers the user has no name. */
function defaultName(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    return `user ${process.getuid?.() ?? ''}@${hostname()}`;
  }
}

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
  const stored = shownStreams.has(stream) ? await stores.logs.stored(stream, subject) : [];
  const message = stored.find((one) => one.sequence === sequence);
  const waiting = letter?.state === 'aside' && letter.isOrdered ? stored.filter((one) => one.sequence > sequence) : [];
  const said =
    message === undefined ? 'The message is no longer in its stream.' : indented(withoutSecrets(message.text));
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
  const shown = jsonIn(text);
  const pretty = shown === undefined ? text : JSON.stringify(shown, undefined, 2);
  return pretty.split('\n').map(printableLine).join('\n');
}

/** Escapes a line and keeps its indentation. */
const printableLine = (line: string): string => `${/^ */.exec(line)?.[0] ?? ''}${printable(line)}`;

function eventsIn({ text }: StoredText): string {
  const events = z
    .object({ data: z.object({ events: z.array(z.object({ type: z.string() })) }) })
    .safeParse(jsonIn(text));
  return events.success ? events.data.data.events.map(({ type }) => printable(type)).join(', ') : 'not readable';
}

/** Exits with code 1 if a message failed again, or no service carried out the decision. */
async function decideAll(
  stores: LetterStores,
  action: LetterDecision['action'],
  ids: readonly string[],
  { why, by, json }: DecideOptions,
): Promise<void> {
  const output = createOutput(json);
  const settled: SettledLetter[] = [];
  for (const id of ids) {
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

async function allLetters({ letters }: LetterStores): Promise<DeadLetter[]> {
  const found: DeadLetter[] = [];
  const stop = new AbortController();
  for await (const change of letters.watch('>', stop.signal)) {
    if (change.kind === 'put') found.push(change.document);
    if (change.kind === 'caught-up') stop.abort();
  }
  return found.toSorted((a, b) => a.setAsideAt.localeCompare(b.setAsideAt) || a.sequence - b.sequence);
}
