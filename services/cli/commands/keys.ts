import { type Command, Option } from 'commander';
import { keyScopes } from '#shared/aggregates/directory/directory.ts';
import type { ApiKeyRevoked, CreatedApiKey, ListedApiKey, ShownApiKey } from '#shared/interfaces/http/directory.ts';
import {
  choiceList,
  numberBetween,
  type ServerCommandOptions,
  wholeNumber,
  withConnection,
} from '../command-options.ts';
import { connect } from '../connection.ts';
import { counted, printable } from '#shared/runtime/figures.ts';
import { createOutput, textTable } from '../terminal.ts';

type CreateOptions = ServerCommandOptions & {
  kind: string;
  name?: string;
  scopes?: string[];
  allowAddress?: string[];
  allowOrigin?: string[];
  expiresInDays?: number;
};

type RotateOptions = ServerCommandOptions & { overlapHours: number; expiresInDays?: number };

type RevokeOptions = ServerCommandOptions & { descendants?: boolean };

export function keysCommand(program: Command): void {
  const keys = program.command('keys').description("an organization's API keys");

  withConnection(keys.command('list'))
    .description(
      'list all keys, including revoked ones, with the time of their last use; secrets are never shown again',
    )
    .action(async (options: ServerCommandOptions) => {
      const answer = await connect(options, 'admin').json<{ apiKeys: ListedApiKey[] }>('/v1/api-keys');
      createOutput(options.json).result(answer, keyTable(answer.apiKeys, new Date()));
    });

  withConnection(keys.command('create'))
    .description('create a key with at most the rights of yours; its secret is shown only once')
    .addOption(
      new Option('--kind <kind>', 'admin: all of the interface; assistant: for the pages of a site')
        .choices(['admin', 'assistant'])
        .makeOptionMandatory(),
    )
    .option('--name <name>', 'purpose of the key')
    .addOption(
      choiceList(
        '--scopes <scopes...>',
        'read, write (by default those of your key); export: an admin key that may only export; proxy: an assistant key for a server that asks on behalf of its readers',
        keyScopes,
      ),
    )
    .option('--allow-address <addresses...>', 'only from these addresses or networks, such as 10.0.0.0/8')
    .option('--allow-origin <origins...>', 'only from pages of these origins, such as https://docs.acme.com')
    .option(
      '--expires-in-days <days>',
      'admin: 90 by default, and no longer than the key that makes it; assistant: never by default',
      wholeNumber(1, 3650),
    )
    .action(async (options: CreateOptions) => {
      const { kind, name, scopes, allowAddress, allowOrigin, expiresInDays } = options;
      const created = await connect(options, 'admin').json<CreatedApiKey>('/v1/api-keys', {
        method: 'POST',
        json: { kind, name, scopes, allowedAddresses: allowAddress, allowedOrigins: allowOrigin, expiresInDays },
      });
      printCreated(created, options);
    });

  withConnection(keys.command('rotate'))
    .description(
      'replace a key with a new one that has the same rights and expiry; the old key stays valid for a grace period',
    )
    .argument('<keyId>', 'id of the key, such as key_1a2B… (see "keys list")')
    .option('--overlap-hours <hours>', 'grace period in which the old key stays valid', numberBetween(0, 720), 24)
    .option(
      '--expires-in-days <days>',
      'days until the new key expires; not after your key, so that a key cannot prolong itself',
      wholeNumber(1, 3650),
    )
    .action(async (keyId: string, options: RotateOptions) => {
      const created = await connect(options, 'admin').json<CreatedApiKey>(`${keyPath(keyId)}/rotate`, {
        method: 'POST',
        json: { overlapHours: options.overlapHours, expiresInDays: options.expiresInDays },
      });
      printCreated(created, options);
      // "At the latest", because the old key may have an earlier expiry.
      const end = `The old key ${keyId} ends in ${counted(options.overlapHours, 'hour')} at the latest.`;
      createOutput(options.json).note(end);
    });

  withConnection(keys.command('revoke'))
    .description(
      'revoke a key; within a second every gateway refuses it and ends its open requests. Lists the keys that it made',
    )
    .argument('<keyId>', 'id of the key, as shown by "bindery keys list"')
    .option('--descendants', 'also revoke the keys that it made, and those that they made')
    .action(async (keyId: string, options: RevokeOptions) => {
      const api = connect(options, 'admin');
      const { apiKeys } = await api.json<{ apiKeys: ListedApiKey[] }>('/v1/api-keys');
      const query = options.descendants === true ? '?descendants=revoke' : '';
      const { descendants, ...revoked } = await api.json<ApiKeyRevoked>(`${keyPath(keyId)}${query}`, {
        method: 'DELETE',
      });
      const output = createOutput(options.json);
      output.result({ ...revoked, revoked: true, descendants }, revokedText(keyId, descendants));
      if (descendants.some(({ revokedAt }) => revokedAt === undefined))
        output.note(`They stay valid. Revoke them with "bindery keys revoke ${keyId} --descendants".`);
      const ended = [keyId, ...descendants.filter((key) => key.revokedAt !== undefined).map(({ id }) => id)];
      if (endsAllMakers(ended, apiKeys, new Date()))
        output.note(
          'No admin key that may write is left: an operator can create another with "bindery orgs create-key".',
        );
    });
}

const keyPath = (keyId: string): string => `/v1/api-keys/${encodeURIComponent(keyId)}`;

/** The output is the secret alone, so that it can be redirected into a file that a service reads. */
export function printCreated(created: CreatedApiKey, { json }: ServerCommandOptions): void {
  const output = createOutput(json);
  output.result(created, created.key);
  output.note(secretSentence(created));
}

/** Introduces a secret and says when it expires. Pure. */
export const secretSentence = ({ id, kind, expiresAt }: Pick<CreatedApiKey, 'id' | 'kind' | 'expiresAt'>): string =>
  `This is the secret of the ${kind} key ${id}, shown only once. It ${expiresAt === undefined ? 'does not expire' : `expires at ${expiresAt}`}.`;

/** A table of keys. `now` tells which have expired. Pure. */
export function keyTable(keys: readonly ListedApiKey[], now: Date): string {
  if (keys.length === 0) return 'No API keys.';
  const isBound = keys.some((key) => boundsOf(key) !== '');
  return textTable(
    [
      'Key',
      'Kind',
      'Scopes',
      'State',
      'Created',
      'Expires',
      'Last used (UTC)',
      ...(isBound ? ['Only from'] : []),
      'Name',
    ],
    keys.map((key) => [
      key.id,
      key.kind,
      key.scopes.join(','),
      keyState(key, now),
      key.createdAt.slice(0, 10),
      key.expiresAt?.slice(0, 10) ?? 'never',
      key.lastUsedAt?.slice(0, 16).replace('T', ' ') ?? 'never',
      ...(isBound ? [boundsOf(key)] : []),
      printable(key.name),
    ]),
  );
}

const mostBounds = 3;

/** The addresses and origins that a key is bound to, shortened to the first ones. */
function boundsOf({ allowedAddresses, allowedOrigins }: ShownApiKey): string {
  const all = [...allowedAddresses, ...allowedOrigins].map(printable);
  const more = all.length - mostBounds;
  return `${all.slice(0, mostBounds).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The revoked key, and the keys that it made. Pure. */
export function revokedText(keyId: string, descendants: readonly ShownApiKey[]): string {
  if (descendants.length === 0) return `Revoked ${keyId}. It made no keys that are still valid.`;
  const row = ({ id, kind, name, expiresAt, revokedAt }: ShownApiKey) => [
    id,
    kind,
    revokedAt === undefined ? 'good' : 'revoked',
    expiresAt?.slice(0, 10) ?? 'never',
    printable(name),
  ];
  const table = textTable(['Key', 'Kind', 'State', 'Expires', 'Name'], descendants.map(row));
  return `Revoked ${keyId}. Directly or through other keys, it made ${counted(descendants.length, 'key')}:\n${table}`;
}

/** True if the organization had keys that can make keys, and these were the last of them. Pure. */
export function endsAllMakers(ended: readonly string[], keys: readonly ShownApiKey[], now: Date): boolean {
  const makers = keys.filter(
    (key) => key.kind === 'admin' && key.scopes.includes('write') && keyState(key, now) === 'good',
  );
  return makers.length > 0 && makers.every(({ id }) => ended.includes(id));
}

function keyState({ revokedAt, expiresAt }: ShownApiKey, now: Date): string {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && Date.parse(expiresAt) <= now.getTime() ? 'expired' : 'good';
}
