import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newFolder } from '../../test/support/new-folder.ts';
import { onLoopback } from '../../test/support/on-loopback.ts';
import { createFirstOrganization } from './commands/organizations.ts';
import { connect, domainOrLocal, readLocalInstallation } from './connection.ts';

test('keys of a local installation that cannot be read are named, and not taken for absent', async () => {
  const folder = newFolder();
  expect(readLocalInstallation(folder)).toBeUndefined();
  const file = join(folder, 'local.json');
  for (const damaged of ['', '{"baseUrl":', '{}']) {
    await writeFile(file, damaged);
    expect(() => readLocalInstallation(folder)).toThrow(file);
  }
  const given = { data: folder, url: 'http://127.0.0.1:1', key: 'svc_given' };
  expect(connect(given, 'admin').baseUrl).toBe(given.url);
});

test('keys and the domain of a local installation go to its own address only', async () => {
  const data = newFolder();
  const local = { baseUrl: 'http://127.0.0.1:8080', organization: 'demo', domain: 'demo' };
  const keys = { adminKey: 'svc_a', assistantKey: 'svc_dsc_a', operatorToken: 'operator' };
  await writeFile(join(data, 'local.json'), JSON.stringify({ ...local, ...keys }));
  expect(connect({ data }, 'admin').baseUrl).toBe(local.baseUrl);
  for (const url of ['http://127.0.0.1:8080/', 'http://localhost:8080', 'http://[::1]:8080']) {
    expect(connect({ data, url }, 'admin').baseUrl).toBe(url);
    expect(domainOrLocal(undefined, { data, url })).toBe('demo');
  }
  for (const url of ['https://docs.acme.com', 'http://127.0.0.1:8081', 'https://localhost:8080']) {
    for (const kind of ['admin', 'assistant', 'operator'] as const)
      expect(() => connect({ data, url }, kind)).toThrow(`Those of ${data} are for http://127.0.0.1:8080 only.`);
    expect(() => domainOrLocal(undefined, { data, url })).toThrow('This command needs a domain.');
  }
});

test('without a server and a domain, the server is what is missing', () => {
  const data = newFolder();
  expect(() => domainOrLocal(undefined, { data })).toThrow(
    /^The address of the server is not known: .*start a server here with "npm start"\.$/,
  );
  expect(() => domainOrLocal(undefined, { data, url: 'https://docs.acme.com' })).toThrow(
    'This command needs a domain.',
  );
});

test('an invalid key or address is refused without being shown', () => {
  const url = 'http://127.0.0.1:1';
  for (const key of ['', ' ', 'svc_a\nsvc_b', 'svc_\u{441}']) {
    const refused = /^The key in --key or BINDERY_KEY is empty, or has a space/;
    expect(() => connect({ url, key }, 'admin')).toThrow(refused);
  }
  expect(connect({ url, key: 'svc_a\r\n' }, 'admin').baseUrl).toBe(url);
  expect(() => connect({ url: 'http://me:hidden@127.0.0.1:1', key: 'svc_a' }, 'admin')).toThrow(
    'must have no name and no password: give http://127.0.0.1:1 as',
  );
});

test('the first organization is made, however slowly the read models follow', async () => {
  const asked: string[] = [];
  const late = { error: 'The change was stored, but cannot be seen everywhere yet.', code: 'unavailable' };
  const answers = [
    { status: 503, body: late },
    { status: 201, body: { organization: { id: 'demo-2' }, adminKey: { key: 'svc_admin' } } },
    { status: 201, body: {} },
    { status: 201, body: { key: 'svc_dsc_assistant' } },
  ];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const { status, body } = answers[asked.length - 1] ?? { status: 500, body: {} };
    request.resume();
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  const { url, close } = await onLoopback(server);
  try {
    const first = await createFirstOrganization(url, 'operator');
    expect(first).toMatchObject({ organization: 'demo-2', adminKey: 'svc_admin', assistantKey: 'svc_dsc_assistant' });
    expect(asked.slice(0, 3)).toEqual([
      'POST /v1/organizations',
      'POST /v1/organizations',
      'POST /v1/organizations/demo-2/domains',
    ]);
  } finally {
    await close();
  }
});
