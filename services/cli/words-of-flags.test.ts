import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addCommands } from './commands.ts';
import { inWordsOfFlags } from './words-of-flags.ts';

async function commandOf(line: string): Promise<Command> {
  let found = await addCommands(new Command('bindery'));
  for (const name of line.split(' ')) {
    const next = found.commands.find((command) => command.name() === name);
    if (next === undefined) throw new Error(`There is no command ${line}.`);
    found = next;
  }
  return found;
}

test.each([
  ['export', 'The field "onPageError" must be "fail" or "report".', 'onPageError', '--on-page-error must be'],
  ['export', 'The field "groups.0" names "x".', 'groups.0', '--groups names "x".'],
  ['export', 'The field "features.search" is wrong.', 'features.search', '--search is wrong.'],
  ['export', 'The field "features.foo" is not known here.', 'features.foo', '--with is not known here.'],
  ['keys create', 'The field "allowedOrigins.0" must be an origin.', 'allowedOrigins.0', '--allow-origin must be an'],
  ['keys create', 'The field "allowedAddresses.1" is wrong.', 'allowedAddresses.1', '--allow-address is wrong.'],
  ['orgs add-domain', 'The field "domain" is wrong.', 'domain', '<domain> is wrong.'],
  ['orgs create', 'The field "name" must not be empty.', 'name', '<name> must not be empty.'],
  ['search', 'The field "query" must not be empty.', 'query', '<query> must not be empty.'],
  ['publish', 'The parameter "version" is wrong.', 'version', '--label is wrong.'],
  ['audit list', 'The parameter "since" is wrong.', 'since', '--since is wrong.'],
  ['audit list', 'The parameter "requestId" is wrong.', 'requestId', '--request is wrong.'],
  ['export', 'No "x": leave "groups" out.', 'groups.0', 'No "x": leave --groups out.'],
  ['keys create', '"expiresInDays" is beyond "name".', 'x', '--expires-in-days is beyond "name".'],
  ['export', 'The field "assistantKey" is an admin key.', 'assistantKey', '--assistant-key is an admin key.'],
  ['export', 'Create one with POST /v1/api-keys.', 'x', 'Create one with "bindery keys create".'],
  ['site open', 'The field "hosts.0" is taken.', 'hosts.0', '--host is taken.'],
  ['site open', 'The field "login.users.0.name" is wrong.', 'login.users.0.name', '--user is wrong.'],
  ['site open', 'The field "login.emailDomains.1" is wrong.', 'login.emailDomains.1', '--email-domain is wrong.'],
  [
    'site open',
    'The field "login.users.0.password" is missing: "anna" has no password yet.',
    'login.users.0.password',
    'The password for --user is missing: "anna" has no password yet.',
  ],
  ['ask', 'Leave out "threadId" to begin.', 'threadId', 'Leave out --thread to begin.'],
  ['export', 'There is no page "x".', 'paths.0', 'There is no page "x".'],
  ['export', 'The field "elsewhere" is wrong.', 'elsewhere', 'The field "elsewhere" is wrong.'],
])('bindery %s: %s', async (line, sentence, path, words) => {
  const said = inWordsOfFlags(sentence, [{ path, message: 'is wrong' }], await commandOf(line));
  expect(said).toMatch(new RegExp(`^${words.replaceAll(/[.?<>"]/g, '\\$&')}`));
  expect(said).not.toContain('\n');
});

test('each of several problems has a line', async () => {
  const sentence = 'The field "onPageError" must be "fail". 1 more is wrong, see "fields".';
  const fields = [
    { path: 'onPageError', message: 'must be "fail"' },
    { path: 'paths.3', message: 'must be text' },
  ];
  expect(inWordsOfFlags(sentence, fields, await commandOf('export'))).toBe(
    '--on-page-error must be "fail".\n  --on-page-error: must be "fail"\n  --paths: must be text',
  );
});

test('a flag that is compared with has its name, too', async () => {
  const fields = [{ path: 'until', message: 'must not be before "since"' }];
  const sentence = 'The parameter "until" must not be before "since".';
  expect(inWordsOfFlags(sentence, fields, await commandOf('audit list'))).toBe('--until must not be before --since.');
});
