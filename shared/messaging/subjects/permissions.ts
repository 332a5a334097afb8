import {
  type BucketRow,
  bucketRows,
  type BusUser,
  busUsers,
  coreRows,
  durableRows,
  renderDurable,
  streamRows,
} from './subject-table.ts';

/** Subjects that a user may publish and subscribe to. `refused` lists exceptions from `publish`, for wildcards that grant too much. */
type Permissions = { publish: string[]; refused: string[]; subscribe: string[] };

/** Prefix of a user's inboxes. Other users cannot subscribe to them. */
export const inboxPrefix = (user: string): string => `_INBOX_${user.replaceAll('-', '_')}`;

/** The rights of a user, derived from the table. The server refuses everything else. */
function permissionsOf(user: BusUser): Permissions {
  const publish: string[] = [];
  const refused: string[] = [];
  const subscribe = [`${inboxPrefix(user)}.>`];

  for (const stream of streamRows) {
    if (stream.writers.includes(user)) {
      publish.push(
        ...(stream.subjectsOf?.[user] ?? stream.subjects).map((subject) =>
          stream.name === 'DEAD' ? subject.replace('*', user) : subject,
        ),
      );
    }
    if (stream.followers?.includes(user)) subscribe.push(...stream.subjects);
    if (stream.last.includes(user)) {
      publish.push(
        ...stream.subjects.map((subject) => `$JS.API.DIRECT.GET.${stream.name}.${subject}`),
        `$JS.API.STREAM.MSG.GET.${stream.name}`,
      );
    }
    // The message after a known one, and the history, are requested with the subject of the whole stream.
    if (stream.history.includes(user) || (stream.writers.includes(user) && stream.last.includes(user))) {
      publish.push(`$JS.API.DIRECT.GET.${stream.name}`);
    }
    if (stream.auditors.includes(user)) {
      publish.push(`$JS.API.STREAM.INFO.${stream.name}`, `$JS.API.DIRECT.GET.${stream.name}`);
    }
    if (stream.counters.includes(user)) publish.push(`$JS.API.CONSUMER.LIST.${stream.name}`);
    if (stream.purgers.includes(user)) publish.push(`$JS.API.STREAM.PURGE.${stream.name}`);
  }

  for (const bucket of bucketRows) {
    const stream = `KV_${bucket.name}`;
    if (bucket.ownKey === true) {
      // The server sends its answer to any reply subject, regardless of the user's rights: a user that could read back its own documents
      // could have them written anywhere.
      if (bucket.writers.includes(user)) publish.push(`$KV.${bucket.name}.${user}`, `$JS.API.STREAM.INFO.${stream}`);
      continue;
    }
    const keys = bucket.keysOf?.[user] ?? ['>'];
    const readsByKey = bucket.byKey?.includes(user) === true;
    if (bucket.writers.includes(user)) {
      publish.push(...keys.map((key) => `$KV.${bucket.name}.${key}`));
      if (bucket.rebuilt === true) publish.push(`$JS.API.STREAM.PURGE.${stream}`);
    }
    if (!bucket.writers.includes(user) && !bucket.readers.includes(user)) continue;
    if (!mayAskForState(user, bucket)) {
      const read = new Set([...keys, ...(bucket.readsOf?.[user] ?? [])]);
      publish.push(...[...read].map((key) => `$JS.API.DIRECT.GET.${stream}.$KV.${bucket.name}.${key}`));
      continue;
    }
    publish.push(
      `$JS.API.DIRECT.GET.${stream}`,
      `$JS.API.DIRECT.GET.${stream}.>`,
      `$JS.API.STREAM.MSG.GET.${stream}`,
      `$JS.API.STREAM.INFO.${stream}`,
    );
    if (readsByKey) continue;
    publish.push(
      // A watch is a push consumer. The server uses this subject for flow control.
      `$JS.FC.${stream}.>`,
      ...['CREATE', 'INFO', 'DELETE', 'MSG.NEXT'].map((verb) => `$JS.API.CONSUMER.${verb}.${stream}.>`),
    );
  }

  const durables = durableRows.filter((row) => row.reader === user);
  if (user === 'page-renderer') {
    // A wildcard covers a whole token, so a wildcard for the durables of all renderer versions covers every durable of the stream. The
    // others are excluded.
    const { stream } = renderDurable('*');
    durables.push({ ...renderDurable('*'), name: '*' });
    for (const { name } of durableRows.filter((row) => row.stream === stream && row.reader !== user)) {
      refused.push(
        `$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`,
        `$JS.API.CONSUMER.INFO.${stream}.${name}`,
        `$JS.ACK.${stream}.${name}.>`,
      );
    }
  }
  for (const { stream, name, filter, remade, formerly = [] } of durables) {
    // During an upgrade, services of the previous version still use the former name.
    for (const each of [name, ...formerly]) {
      publish.push(
        `$JS.API.CONSUMER.MSG.NEXT.${stream}.${each}`,
        `$JS.API.CONSUMER.INFO.${stream}.${each}`,
        `$JS.ACK.${stream}.${each}.>`,
      );
    }
    // The message of a dead letter is read again from its log.
    if (isLog(stream)) publish.push(`$JS.API.DIRECT.GET.${stream}`);
    if (remade === true) {
      publish.push(`$JS.API.CONSUMER.DELETE.${stream}.${name}`, `$JS.API.CONSUMER.CREATE.${stream}.${name}.${filter}`);
    }
  }

  for (const core of coreRows) {
    if (core.writers.includes(user)) publish.push(core.subject);
    if (core.readers.includes(user)) subscribe.push(core.subject);
  }
  return { publish, refused, subscribe };
}

/** True if a reader or writer of a bucket may ask for its state, from which it learns that the bucket exists. A reader of single keys may not. */
export const mayAskForState = (user: BusUser, { byKey = [], keysOf = {} }: BucketRow): boolean =>
  !(byKey.includes(user) && keysOf[user] !== undefined);

const isLog = (stream: string): boolean =>
  streamRows.some(({ name, retention }) => name === stream && retention === 'log');

/**
 * Version of the users' rights, incremented with each change. A server keeps the rights that it read at its start until it is told to
 * reload its configuration, and the provisioner detects that by this number.
 */
export const rightsVersion = 10;

/** A subject that the provisioner may publish to only if the server has the rights of that version or of a later one. */
export const rightsSubject = (version: number = rightsVersion): string => `rights.${version}`;

/**
 * The provisioner makes and changes streams, buckets and consumers. It deletes and resumes only consumers of logs and tasks, and reads no message.
 * The server grants pausing and resuming only together.
 */
function provisionerPermissions(): Permissions {
  return {
    publish: [
      ...['CREATE', 'UPDATE', 'INFO'].map((verb) => `$JS.API.STREAM.${verb}.*`),
      '$JS.API.CONSUMER.CREATE.>',
      '$JS.API.CONSUMER.INFO.>',
      ...streamRows.flatMap(({ name }) => ['DELETE', 'PAUSE'].map((verb) => `$JS.API.CONSUMER.${verb}.${name}.*`)),
      '$JS.API.INFO',
      ...Array.from({ length: rightsVersion }, (_, before) => rightsSubject(before + 1)),
    ],
    refused: [],
    subscribe: [`${inboxPrefix('provisioner')}.>`],
  };
}

/** User whose only right is to ask a server for its health. It belongs to the system account, which has no streams. */
export const supervisorUser = 'supervisor';

const supervisorPermissions: Permissions = {
  publish: ['$SYS.REQ.SERVER.PING.HEALTHZ'],
  refused: [],
  subscribe: [`${inboxPrefix(supervisorUser)}.>`],
};

/** All users of a server. Each needs a password. */
export const serverUsers = [...busUsers, 'provisioner', supervisorUser] as const;

/** One of several servers that replicate the same streams. */
export type NatsClusterNode = {
  /** Name of the cluster. */
  name: string;
  /** Name of this server, unique in the cluster. */
  serverName: string;
  host: string;
  port: number;
  /** `host:port` addresses at which the servers of the cluster find each other. */
  routes: readonly string[];
  /** Shared secret of the servers of the cluster. */
  password: string;
};

/**
 * The configuration of a nats-server for one installation, as text: users with only the rights of the table, and `sync_interval: always`,
 * because the default acknowledges before the data is on disk and can lose two minutes of accepted work. `port` and `storeDir` may come
 * from the command line instead. `host`: the address that it listens on, by default only for this machine. `monitorPort`: the port of its
 * health and metrics over HTTP, by default none. `cluster`: settings shared with other servers, by default it runs alone.
 */
export function natsConfig(options: {
  host?: string;
  port?: number;
  monitorPort?: number;
  storeDir?: string;
  passwords: Readonly<Record<string, string>>;
  cluster?: NatsClusterNode;
}): string {
  const { [supervisorUser]: supervisorPassword, ...passwords } = options.passwords;
  const users = Object.entries(passwords).map(([user, password]) =>
    userBlock(user, password, user === 'provisioner' ? provisionerPermissions() : permissionsOf(user as BusUser)),
  );
  return [
    `host: ${JSON.stringify(options.host ?? '127.0.0.1')}`,
    ...(options.port === undefined ? [] : [`port: ${options.port}`]),
    ...(options.monitorPort === undefined ? [] : [`http_port: ${options.monitorPort}`]),
    ...(options.cluster === undefined ? [] : clusterBlock(options.cluster)),
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
    ...(supervisorPassword === undefined
      ? []
      : [
          'accounts {',
          '  SYS { users = [',
          userBlock(supervisorUser, supervisorPassword, supervisorPermissions),
          '  ] }',
          '}',
          'system_account: SYS',
        ]),
    '',
  ].join('\n');
}

function clusterBlock({ name, serverName, host, port, routes, password }: NatsClusterNode): string[] {
  const user = 'route';
  return [
    `server_name: ${JSON.stringify(serverName)}`,
    'cluster {',
    `  name: ${JSON.stringify(name)}`,
    `  listen: ${JSON.stringify(`${host}:${port}`)}`,
    `  authorization { user: ${user}, password: ${JSON.stringify(password)} }`,
    // A server that hangs, or whose machine lost power, closes no connection. The other servers keep asking it for its data until they
    // notice, which takes more than a minute by default; clients notice after fifteen seconds.
    '  ping_interval: "5s"',
    '  ping_max: 2',
    `  routes: ${JSON.stringify(routes.map((route) => `nats://${user}:${password}@${route}`))}`,
    '}',
  ];
}

function userBlock(user: string, password: string, { publish, refused, subscribe }: Permissions): string {
  const deny = refused.length === 0 ? '' : `, deny: ${JSON.stringify(refused)}`;
  return `    { user: ${JSON.stringify(user)}, password: ${JSON.stringify(password)}, permissions: { publish: { allow: ${JSON.stringify(publish)}${deny} }, subscribe: { allow: ${JSON.stringify(subscribe)} } } }`;
}
