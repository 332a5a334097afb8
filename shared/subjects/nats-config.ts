import { permissionsOf, type Permissions, provisionerPermissions } from './permissions-of.ts';
import type { BusUser } from './subject-table.ts';

/**
 * The configuration of a nats-server for one installation, as text: users with just the rights that the table gives them, and
 * `sync_interval: always`, because the default acknowledges before the disk has it and can lose two minutes of accepted work.
 * Without `port` and `storeDir` these are left to the command line.
 */
export function natsConfig(options: {
  port?: number;
  storeDir?: string;
  passwords: Readonly<Record<string, string>>;
}): string {
  const users = Object.entries(options.passwords).map(([user, password]) =>
    userBlock(user, password, user === 'provisioner' ? provisionerPermissions() : permissionsOf(user as BusUser)),
  );
  return [
    'host: "127.0.0.1"',
    ...(options.port === undefined ? [] : [`port: ${options.port}`]),
    'max_payload: 1MB',
    'jetstream {',
    ...(options.storeDir === undefined ? [] : [`  store_dir: ${JSON.stringify(options.storeDir)}`]),
    '  sync_interval: always',
    '}',
    'authorization {',
    '  users = [',
    ...users,
    '  ]',
    '}',
    '',
  ].join('\n');
}

function userBlock(user: string, password: string, { publish, refused, subscribe }: Permissions): string {
  const deny = refused.length === 0 ? '' : `, deny: ${JSON.stringify(refused)}`;
  return `    { user: ${JSON.stringify(user)}, password: ${JSON.stringify(password)}, permissions: { publish: { allow: ${JSON.stringify(publish)}${deny} }, subscribe: { allow: ${JSON.stringify(subscribe)} } } }`;
}
