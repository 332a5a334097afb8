import { Command, CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { addCommands } from './commands.ts';

/** The error that the command prints for these arguments. */
async function complaintAbout(args: string[]): Promise<string> {
  let written = '';
  const program = new Command('bindery')
    .configureOutput({ writeErr: (text) => void (written += text), writeOut: () => undefined })
    .exitOverride();
  await addCommands(program);
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) expect(error.exitCode).toBe(1);
    return `${error instanceof Error ? error.message : String(error)}\n${written}`;
  }
  throw new Error('nothing was wrong');
}

test.each([
  ['search acme', "missing required argument 'query'"],
  ['bench search', "missing required argument 'site'"],
  ['bench search docs --min-recall 2', 'a number from 0 to 1'],
  ['events', "missing required argument 'jobId'"],
  ['replay', "missing required argument 'jobId'"],
  ['cancel', "missing required argument 'jobId'"],
  ['check a b', 'too many arguments'],
  ['dev . --host=', 'an address of this machine or a host name'],
  ['check --format text', 'Allowed choices are sarif, github, junit'],
  ['check . --json --format sarif', 'Name one of them'],
  ['check ./no-such-folder', './no-such-folder is not a folder that can be read.'],
  ['check --explain no-such-code', 'There is no code "no-such-code".'],
  ['check . --since', "option '--since <ref>' argument missing"],
  ['keys create', "required option '--kind <kind>'"],
  ['keys create --kind root', 'Allowed choices are admin, assistant'],
  ['keys create --kind admin --scopes all', 'Allowed choices are read, write'],
  ['keys create --kind admin --expires-in-days 0', 'a whole number from 1 to 3650'],
  [
    'keys create --kind admin --scopes read,wirte',
    'Allowed choices are read, write, proxy, export, with spaces or commas',
  ],
  ['keys rotate key_x --overlap-hours 1000', 'a number from 0 to 720'],
  ['orgs create Acme --plan gold', 'Allowed choices are free, pro, enterprise'],
  ['orgs add-domain acme', "missing required argument 'domain'"],
  ['orgs add-domain acme docs --groups open', 'Allowed choices are claimed, signed'],
  ['contents acme --promote a --delete b', 'cannot be used with'],
  ['contents acme --unlabel a --delete b', 'cannot be used with'],
  ['jobs --status done', 'Allowed choices are queued, running, completed, failed'],
  ['jobs --limit many', 'a whole number from 1 to 100'],
  ['audit list --action keys', 'Allowed choices are export, link'],
  ['audit list --limit 501', 'a whole number from 1 to 500'],
  ['audit list --ndjson --json', 'cannot be used with'],
  ['usage --month 2026-01 --months 2026-01..2026-02', 'cannot be used with'],
  ['search acme x --min-score 2', 'a number from 0 to 1'],
  ['search acme --dry-run', 'Put -- before a query that begins with a hyphen'],
  [
    'bench search ./no-such-folder --key svc_x --url http://127.0.0.1:1',
    './no-such-folder cannot be measured: there is no such folder.',
  ],
  ['bench search package.json/x', 'package.json/x cannot be measured: there is no such folder.'],
  ['bench search ./package.json', './package.json cannot be measured: it is not a folder.'],
  ['bench search docs nowhere.jsonl', 'The questions in nowhere.jsonl cannot be read: there is no such file.'],
  ['dead show x', 'It must be the id of a letter as "bindery dead list" shows it.'],
  ['dead retry projector.EXPORTS.7 x --why late', 'It must be the id of a letter as "bindery dead list" shows it.'],
  ['audit verify --job x', 'It must be the id of an export job'],
  ['audit verify --unanchored-before yesterday', 'It must be a date'],
  ['orgs change acme --url http://127.0.0.1:1 --key k', 'Nothing to change: give --name, --plan or both.'],
  [
    'export docs --url http://127.0.0.1:1 --key k --with assistant --without analytics,assistant',
    '"assistant" is in --with and',
  ],
  ['run assistant,cook', 'There is no service "cook"'],
  ['publis .', "unknown command 'publis'"],
  ['keys list --everything', "unknown option '--everything'"],
])('bindery %s', async (line, sentence) => {
  expect(await complaintAbout(line.split(' '))).toContain(sentence);
});

test('every command says what it and each of its options and arguments does', async () => {
  const program = new Command('bindery');
  await addCommands(program);
  const all = program.commands.flatMap((command) => [command, ...command.commands]);
  expect(all.length).toBeGreaterThan(20);
  const silent = all.flatMap((command) => [
    ...(command.description() === '' ? [command.name()] : []),
    ...command.registeredArguments
      .filter(({ description }) => description === '')
      .map((argument) => `${command.name()} ${argument.name()}`),
    ...command.options.filter(({ description }) => description === '').map(({ flags }) => `${command.name()} ${flags}`),
  ]);
  expect(silent).toEqual([]);
});

test('each command is found by its name alone, without loading all others', async () => {
  const all = await addCommands(new Command('bindery'));
  for (const command of all.commands) {
    const some = await addCommands(new Command('bindery'), command.name());
    expect(some.commands.map((each) => each.name())).toContain(command.name());
    expect(some.commands.length).toBeLessThanOrEqual(4);
  }
  for (const unknown of ['help', 'key', '--version', '(', '']) {
    expect((await addCommands(new Command('bindery'), unknown)).commands).toHaveLength(all.commands.length);
  }
});
