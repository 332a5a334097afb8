import { expect, test } from 'vitest';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { inboxPrefix, natsConfig, rightsSubject, rightsVersion, serverUsers } from './permissions.ts';

test('a change of rights needs a new version, so that servers with the old ones are found', () => {
  const passwords = Object.fromEntries(serverUsers.map((user) => [user, 'a password']));
  const advice = 'the rights changed: raise "rightsVersion" in permissions.ts, and write both new values here';
  expect({ rightsVersion, rights: sha256Of(natsConfig({ passwords })).slice(0, 16) }, advice).toEqual({
    rightsVersion: 10,
    rights: 'd37f131082bd6df8',
  });
});

test('a server listens only for this machine and alone, unless it is told otherwise', () => {
  expect(natsConfig({ passwords: {} })).toBe(`host: "127.0.0.1"
max_payload: 1MB
jetstream {
  sync_interval: always
}
authorization {
  users = [
  ]
}
`);
  const cluster = {
    name: 'bindery',
    serverName: 'nats-1',
    host: '10.0.0.1',
    port: 6222,
    routes: ['10.0.0.2:6222', '10.0.0.3:6222'],
    password: 'of the cluster',
  };
  const options = { host: '10.0.0.1', port: 4222, monitorPort: 8222, storeDir: '/the data', cluster };
  expect(natsConfig({ ...options, passwords: { supervisor: 'a "password"' } })).toBe(`host: "10.0.0.1"
port: 4222
http_port: 8222
server_name: "nats-1"
cluster {
  name: "bindery"
  listen: "10.0.0.1:6222"
  authorization { user: route, password: "of the cluster" }
  ping_interval: "5s"
  ping_max: 2
  routes: ["nats://route:of the cluster@10.0.0.2:6222","nats://route:of the cluster@10.0.0.3:6222"]
}
max_payload: 1MB
jetstream {
  store_dir: "/the data"
  sync_interval: always
}
authorization {
  users = [
  ]
}
accounts {
  SYS { users = [
    { user: "supervisor", password: "a \\"password\\"", permissions: { publish: { allow: ["$SYS.REQ.SERVER.PING.HEALTHZ"] }, subscribe: { allow: ["_INBOX_supervisor.>"] } } }
  ] }
}
system_account: SYS
`);
});

/** The rights of a user, as the server reads them. */
function rightsOf(user: string): { publish: string[]; refused: string[]; subscribe: string[] } {
  const text = natsConfig({ passwords: { [user]: 'a password' } });
  const [, publish, refused = '[]', subscribe] =
    /publish: \{ allow: (\[.*?\])(?:, deny: (\[.*?\]))? \}, subscribe: \{ allow: (\[.*?\]) \}/.exec(text) ?? [];
  const read = (json: string | undefined) => JSON.parse(json ?? '') as string[];
  return { publish: read(publish), refused: read(refused), subscribe: read(subscribe) };
}

test('an operator requests rebuilds, decides about dead letters and reads logs, and a signer only adds to its own', () => {
  expect(rightsOf('link-signer')).toEqual({
    publish: expect.arrayContaining(['access.*.*', '$KV.readiness.link-signer', '$JS.API.STREAM.INFO.KV_readiness']),
    refused: [],
    subscribe: ['_INBOX_link_signer.>'],
  });
  expect(rightsOf('link-signer').publish.filter((subject) => !subject.startsWith('$'))).toEqual(['access.*.*']);
  const { publish } = rightsOf('operator');
  expect(publish).toEqual(expect.arrayContaining(['$KV.rebuilds.>', '$KV.dead-letters.>']));
  expect(publish.filter((subject) => !subject.startsWith('$'))).toEqual([]);
});

test('a renderer takes tasks of every renderer version, and no others', () => {
  const { publish, refused } = rightsOf('page-renderer');
  expect(publish).toContain('$JS.API.CONSUMER.MSG.NEXT.TASKS.*');
  expect(refused).toEqual([
    '$JS.API.CONSUMER.MSG.NEXT.TASKS.bundle',
    '$JS.API.CONSUMER.INFO.TASKS.bundle',
    '$JS.ACK.TASKS.bundle.>',
  ]);
});

test('a subject names the version of the rights', () => {
  expect([rightsSubject(), rightsSubject(2), inboxPrefix('page-renderer')]).toEqual([
    ...[`rights.${rightsVersion}`, 'rights.2', '_INBOX_page_renderer'],
  ]);
});
