import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { groupTrusts } from '#shared/aggregates/directory/directory.ts';
import type {
  CreatedApiKey,
  DomainAdded,
  OrganizationCreated,
  ShownOrganization,
} from '#shared/interfaces/http/directory.ts';
import { organizationPlans } from '#shared/contracts/identifiers.ts';
import { errorCode, messageOf } from '#shared/runtime/failures.ts';
import { apiClient, retryWhileAway } from '../api-client.ts';
import { type ServerCommandOptions, wholeNumber, withConnection } from '../command-options.ts';
import { connect, type LocalInstallation } from '../connection.ts';
import { createOutput } from '../terminal.ts';
import { printCreated, secretSentence } from './keys.ts';

type CreateOptions = ServerCommandOptions & { plan?: string };
type ChangeOptions = CreateOptions & { name?: string };
type AddDomainOptions = ServerCommandOptions & { hosts?: string[]; groups?: string; userTokenKeys?: string };

/** Organizations and domains. These commands need the operator's token, not a key. */
export function orgsCommand(program: Command): void {
  const orgs = program.command('orgs').description("organizations and their domains; needs the operator's token");
  const operatorCommand = (name: string) => withConnection(orgs.command(name), 'operator');
  const plan = () => new Option('--plan <plan>', 'its plan').choices(organizationPlans);

  operatorCommand('create')
    .description('create an organization and its first admin key')
    .argument('<name>', 'name of the organization, such as "Acme"')
    .addOption(plan())
    .action(async (name: string, options: CreateOptions) => {
      const created = await connect(options, 'operator').json<OrganizationCreated>('/v1/organizations', {
        method: 'POST',
        json: { name, plan: options.plan },
      });
      const { organization, adminKey } = created;
      createOutput(options.json).result(
        created,
        `Created ${organizationText(organization)}.\n${adminKey.key}\n${secretSentence({ ...adminKey, kind: 'admin' })}`,
      );
    });

  operatorCommand('change')
    .description('change the name or the plan of an organization')
    .argument('<organization>', 'its id')
    .option('--name <name>', 'its name')
    .addOption(plan())
    .action(async (id: string, options: ChangeOptions) => {
      const { name, plan } = options;
      if (name === undefined && plan === undefined) throw new Error('Nothing to change: give --name, --plan or both.');
      const organization = await connect(options, 'operator').json<ShownOrganization>(organizationPath(id), {
        method: 'PATCH',
        json: { name, plan },
      });
      createOutput(options.json).result(organization, `Now it is ${organizationText(organization)}.`);
    });

  operatorCommand('create-key')
    .description('create another admin key for an organization, if its own are lost or have expired')
    .argument('<organization>', 'its id')
    .option('--name <name>', 'purpose of the key')
    .option(
      '--expires-in-days <days>',
      'days until the key, and the admin keys that it makes, expire (90 by default)',
      wholeNumber(1, 3650),
    )
    .action(async (id: string, options: ServerCommandOptions & { name?: string; expiresInDays?: number }) => {
      const created = await connect(options, 'operator').json<CreatedApiKey>(`${organizationPath(id)}/api-keys`, {
        method: 'POST',
        json: { name: options.name, expiresInDays: options.expiresInDays },
      });
      printCreated(created, options);
    });

  operatorCommand('add-domain')
    .description('add a domain, whose content can be published, to an organization')
    .argument('<organization>', 'its id')
    .argument('<domain>', 'slug, such as acme')
    .option(
      '--hosts <hosts...>',
      'host names that also name the domain in requests, such as docs.acme.com; "bindery site open --host" serves a site at one',
    )
    .addOption(
      new Option(
        '--groups <trust>',
        'claimed: readers have the groups that they name (default); signed: only the groups in a signed token count',
      ).choices(groupTrusts),
    )
    .option(
      '--user-token-keys <file>',
      'public keys that sign the tokens of readers, for signed groups: a file with a JWK, a list of them, or a JWK Set',
    )
    .action(async (id: string, domain: string, options: AddDomainOptions) => {
      const { hosts, groups } = options;
      const userTokenKeys = options.userTokenKeys === undefined ? undefined : await keysIn(options.userTokenKeys);
      const added = await connect(options, 'operator').json<DomainAdded>(`${organizationPath(id)}/domains`, {
        method: 'POST',
        json: { domain, hosts, groups, userTokenKeys },
      });
      const also = added.hosts.length === 0 ? '' : `, also known as ${added.hosts.join(', ')}`;
      createOutput(options.json).result(added, `Added the domain "${added.domain}" to ${id}${also}.`);
    });
}

/** Reads public keys from a file. Throws if the file cannot be read or is not JSON; the server checks the keys. */
async function keysIn(file: string): Promise<unknown[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const why = errorCode(error) === 'ENOENT' ? 'there is no such file' : messageOf(error);
    throw new Error(`--user-token-keys ${file} cannot be read: ${why}.`, { cause: error });
  });
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch (error) {
    const wanted = 'Name a file with a JWK, a list of them, or a JWK Set';
    throw new Error(`--user-token-keys ${file} is not JSON. ${wanted}.`, { cause: error });
  }
  if (Array.isArray(found)) return found;
  const keys = (found as { keys?: unknown } | null)?.keys;
  return Array.isArray(keys) ? keys : [found];
}

const organizationPath = (id: string): string => `/v1/organizations/${encodeURIComponent(id)}`;

const organizationText = ({ id, name, plan }: ShownOrganization): string => `${id} ("${name}", plan ${plan})`;

type FirstOrganization = Omit<LocalInstallation, 'baseUrl' | 'operatorToken'>;

/**
 * Makes the organization, domain and keys of a new installation through the public interface. If the read models lag too far behind, it starts again
 * with another organization; the first one then stays without a usable key.
 */
export function createFirstOrganization(baseUrl: string, operatorToken: string): Promise<FirstOrganization> {
  return retryWhileAway(() => createOrganization(baseUrl, operatorToken));
}

async function createOrganization(baseUrl: string, operatorToken: string): Promise<FirstOrganization> {
  const operator = apiClient(baseUrl, operatorToken);
  const created = await operator.json<OrganizationCreated>('/v1/organizations', {
    method: 'POST',
    json: { name: 'Demo', plan: 'enterprise' },
  });
  const organization = created.organization.id;
  const domain = 'demo';
  await operator.json(`/v1/organizations/${organization}/domains`, {
    method: 'POST',
    json: { domain, hosts: [], groups: 'claimed' },
  });
  const admin = apiClient(baseUrl, created.adminKey.key);
  const assistant = await admin.json<CreatedApiKey>('/v1/api-keys', {
    method: 'POST',
    json: { kind: 'assistant', name: 'demo' },
  });
  return { organization, domain, adminKey: created.adminKey.key, assistantKey: assistant.key };
}
