import { createServer } from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import { contentHeader } from '#shared/interfaces/http/sites.ts';
import { onLoopback } from '../../test/support/on-loopback.ts';
import { servedSentence } from './when-served.ts';

const contentVersion = `cv_${'1'.repeat(32)}`;

/** Address of a site that serves these contents one after the other. */
async function siteWith(...contents: string[]): Promise<string> {
  const hosts: (string | undefined)[] = [];
  const server = await onLoopback(
    createServer((request, response) => {
      hosts.push(request.headers.host);
      const content = contents.length > 1 ? contents.shift() : contents[0];
      response.writeHead(200, { [contentHeader]: content }).end();
    }),
  );
  onTestFinished(async () => {
    await server.close();
    expect(new Set(hosts)).toEqual(new Set([`demo.localhost:${new URL(server.url).port}`]));
  });
  return `http://demo.localhost:${new URL(server.url).port}`;
}

test('waits until the site serves the content, on names that no resolver knows', async () => {
  const address = await siteWith('cv_before', 'cv_before', contentVersion);
  expect(await servedSentence(address, contentVersion)).toBe(`Readers see it at ${address}`);
});

test.each([
  ['a password', 401, {}],
  ['a provider', 302, { location: 'https://login.example/' }],
])(
  'does not wait for a site behind %s',
  async (_what, status, headers) => {
    const server = await onLoopback(createServer((_request, response) => response.writeHead(status, headers).end()));
    onTestFinished(() => server.close());
    expect(await servedSentence(server.url, contentVersion)).toBe(`Readers who log in see it at ${server.url}`);
  },
  10_000,
);

test('says that the host refuses, such as for a login without a provider', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const server = await onLoopback(
    createServer((_request, response) => {
      vi.advanceTimersByTime(30_000);
      response.writeHead(503).end();
    }),
  );
  onTestFinished(() => server.close());
  expect(await servedSentence(server.url, contentVersion)).toContain(
    `${server.url} (its host answers with status 503 and the reason)`,
  );
});

test('does not claim that readers see a site which cannot be reached', async () => {
  const server = await onLoopback(createServer());
  await server.close();
  const address = `http://demo.localhost:${new URL(server.url).port}`;
  expect(await servedSentence(address, contentVersion)).toContain('this machine cannot reach it');
});
