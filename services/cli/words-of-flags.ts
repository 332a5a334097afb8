import type { Command } from 'commander';
import type { FieldProblem } from '#shared/http/errors.ts';

/** Fields whose options have other names. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  allowedAddresses: ['allow-address'],
  allowedOrigins: ['allow-origin'],
  jobId: ['job'],
  requestId: ['request'],
  version: ['label'],
  features: ['with'],
  threadId: ['thread'],
  hosts: ['host'],
};

/** Fields inside of "login", which has several options. */
const loginNames: Readonly<Record<string, string>> = {
  groups: '--group',
  emailDomains: '--email-domain',
  users: '--user',
  protects: '--protect',
};

/**
 * Rewrites the server's sentence about a request with the names of the command's options: `--allow-origin` instead of `The field "allowedOrigins.0"`.
 * Fields that come from no option or argument keep their names. Pure.
 */
export function inWordsOfFlags(
  sentence: string,
  fields: readonly FieldProblem[],
  command: Command | undefined,
): string {
  const names = fields.map(({ path }) => nameOf(path, command));
  const [first, ...others] = fields.map(({ path, message }, at) => `${names[at] ?? path}: ${message}`);
  const said = sentence
    .replaceAll('POST /v1/api-keys', '"bindery keys create"')
    .replace(/^The (?:field|parameter|header) "[^"]*"/, (words) => names[0] ?? words)
    .replace(/ \d+ more (?:is|are) wrong, see "fields"\.$/, '')
    // Names of further fields. Text of the user that looks like one stays unchanged.
    .replaceAll(/"([a-z]+)([A-Z][A-Za-z]*|)"/g, (quoted, start: string, end: string) => {
      const field = `${start}${end}`;
      const isOurs =
        end !== '' || fields.some(({ path, message }) => path.split('.')[0] === field || message.endsWith(quoted));
      const flag = isOurs ? nameOf(field, command) : undefined;
      return flag?.startsWith('--') ? flag : quoted;
    });
  return [said, ...(others.length === 0 ? [] : [first, ...others].map((line) => `  ${line}`))].join('\n');
}

function nameOf(path: string, command: Command | undefined): string | undefined {
  const [field = '', part = '', , inner] = path.split('.');
  if (field === 'login' && inner === 'password') return 'The password for --user';
  if (field === 'login' && loginNames[part] !== undefined) return loginNames[part];
  const wanted = field === 'features' && part === 'search' ? ['search'] : [field, ...(otherNames[field] ?? [])];
  const flags = wanted.map((name) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);
  const flag = flags.find((name) => command?.options.some(({ long }) => long === name));
  return (
    flag ??
    command?.registeredArguments
      .map((each) => each.name())
      .find((name) => name === field)
      ?.replace(/.*/, '<$&>')
  );
}
