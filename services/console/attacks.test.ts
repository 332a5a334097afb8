import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signPersonToken } from '#shared/interfaces/http/person-token.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { type ConsoleHarness, consoleHarness } from '../../test/support/console-harness.ts';
import {
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  operatorToken,
  personTokenKey,
  type TestOrganization,
} from '../../test/support/gateway-harness.ts';
import { firstLinkFile } from './sign-in.ts';

let gateway: GatewayHarness;
let acme: TestOrganization;
let site: ConsoleHarness;
/** The same console as another copy, whose store of ended sessions is broken from its start. */
let broken: ConsoleHarness;

beforeAll(async () => {
  gateway = await gatewayHarness();
  acme = await createOrganization(gateway);
  site = await consoleHarness(gateway);
  broken = await consoleHarness(gateway);
  breakStore(broken);
});
afterAll(async () => {
  await site.close();
  await broken.close();
  await gateway.close();
});

/** A file where the folder of ended sessions would be: it can be neither read nor written. */
const breakStore = ({ dataFolder }: ConsoleHarness): void => writeFileSync(`${dataFolder}/ended`, '');

describe('signing in', () => {
  test.each(['/中', '/é', '/o/acme\u2028', 'javascript:alert(1)'])('leads from %s to the start page', async (to) => {
    const entered = await (await site.signedIn()).send('/sign-in', { credential: acme.adminKey, to });
    expect([entered.status, entered.location]).toEqual([303, '/']);
  });

  test('with text that no header can carry says that it is no key', async () => {
    const refused = await (await site.signedIn()).send('/sign-in', { credential: 'пароль' });
    expect([refused.status, refused.html.includes('This is no API key')]).toEqual([403, true]);
  });

  test('with a token of a person does not make hours of its minute', async () => {
    const person = { name: 'olga', role: 'operator' } as const;
    const credential = await signPersonToken(personTokenKey, person, gateway.clock.now());
    const refused = await (await site.signedIn()).send('/sign-in', { credential });
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([403, []]);
  });

  test('with the link of this machine is not used up by a program that asks for its head', async () => {
    const until = new Date(gateway.clock.now().getTime() + 60_000).toISOString();
    writeFileSync(firstLinkFile(site.dataFolder), JSON.stringify({ sha256: sha256Of('a-token'), until }));
    const head = await fetch(`${site.url}/sign-in?token=a-token`, { method: 'HEAD', redirect: 'manual' });
    expect(head.headers.getSetCookie()).toEqual([]);
    expect((await (await site.signedIn()).get('/sign-in?token=a-token')).status).toBe(303);
  });
});

describe('signing out', () => {
  test('while its end cannot be stored still removes the session from the browser, and says so', async () => {
    const store = await consoleHarness(gateway);
    const visitor = await store.signedIn(acme.adminKey);
    breakStore(store);
    const left = await visitor.send('/sign-out');
    expect([left.status, visitor.cookies.size]).toEqual([503, 0]);
    expect(left.html).toContain('This browser is signed out');
    await store.close();
  });

  test('while nobody knows which sessions ended does so too', async () => {
    const visitor = await site.signedIn(acme.adminKey);
    const there = await broken.signedIn();
    for (const [name, value] of visitor.cookies) there.cookies.set(name, value);
    for (const path of ['/', '/o/acme']) expect([path, (await there.get(path)).status]).toEqual([path, 503]);
    const left = await there.send('/sign-out');
    expect([left.status, there.cookies.size]).toEqual([503, 0]);
  });
});

test('what the framework refuses is a page with the policy, too', async () => {
  for (const path of ['/%zz', '/o/acme/%', `/o/${'a'.repeat(400)}`, `/o/acme/keys/${'k'.repeat(500)}`]) {
    const { status, headers } = await (await site.signedIn()).get(path);
    expect([status, headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('cache-control')).toBe('no-store');
  }
});

test('a request with an address of another site in its first line leads to no other site', async () => {
  const visitor = await site.signedIn(acme.adminKey);
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const { port } = new URL(site.url);
  const answer = await new Promise<string>((resolve) => {
    const socket = connect(Number(port), '127.0.0.1');
    let text = '';
    socket.on('data', (bytes) => (text += String(bytes))).on('close', () => resolve(text));
    socket.write(
      `GET http://evil.test/o/acme/audit?x=1 HTTP/1.1\r\nhost: a\r\ncookie: ${cookie}\r\nconnection: close\r\n\r\n`,
    );
  });
  expect(answer).toContain('<h1>Audit</h1>');
  expect(answer).not.toContain('evil.test');
});

test('a person whose page is not there can sign out, and finds their other organizations', async () => {
  const operator = await site.signedIn(operatorToken);
  const visitor = await site.signedIn(acme.adminKey);
  for (const missing of [await operator.get('/o/ghost'), await visitor.get('/o/ghost'), await visitor.get('/none')]) {
    expect(missing.status).toBe(404);
    expect(missing.html).toContain('action="/sign-out"');
  }
  const { html } = await visitor.get('/none');
  expect(html).toContain('href="/o/acme"');
  expect((await operator.get('/o/ghost')).html).toContain('There is no organization');
  expect((await visitor.send('/sign-out')).location).toBe('/sign-in');
});

test('a page of another site cannot have links to archives signed', async () => {
  const visitor = await site.signedIn(acme.adminKey);
  const path = `/o/acme/exports/se_${'0'.repeat(22)}`;
  for (const from of ['cross-site', 'same-site']) {
    const { status, location } = await visitor.get(`${path}/download`, { 'sec-fetch-site': from });
    expect([status, location]).toEqual([303, path]);
  }
  // There is no such export, and the platform says so.
  expect((await visitor.get(`${path}/download`, { 'sec-fetch-site': 'same-origin' })).status).toBe(404);
  expect((await visitor.get(`${path}/download`)).status).toBe(404);
});
