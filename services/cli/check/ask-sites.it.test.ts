import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newFolder } from '../../../test/support/new-folder.ts';
import { askSites } from './ask-sites.ts';

let server: Server;
let origin: string;
let asked: string[];
let cache: string;
let most = 0;
let open = 0;
let answer: (request: IncomingMessage) => [status: number, headers?: Record<string, string>] | undefined;

beforeEach(async () => {
  asked = [];
  [open, most] = [0, 0];
  cache = join(newFolder(), 'links.json');
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    open += 1;
    most = Math.max(most, open);
    const [status, headers = {}] = answer(request) ?? [];
    if (status === undefined) return;
    setImmediate(() => {
      open -= 1;
      response.writeHead(status, headers).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const place = (path: string) => ({ address: path.startsWith('http') ? path : origin + path, file: 'a.mdx', line: 3 });
const ask = (paths: string[], options: Partial<Parameters<typeof askSites>[1]> = {}) =>
  askSites(paths.map(place), { allowPrivate: true, cache, ...options });
const codes = ({ findings }: Awaited<ReturnType<typeof askSites>>) => findings.map(({ code }) => code);

test('HEAD is enough for a page that is there, and GET decides about others', async () => {
  answer = ({ method, url }) => {
    if (url === '/no-head') return [method === 'HEAD' ? 405 : 200];
    if (url === '/wrong-head') return [method === 'HEAD' ? 404 : 200];
    return [url === '/gone' ? 404 : 200];
  };
  const result = await ask(['/there#part', '/there#other', '/no-head', '/wrong-head', '/gone']);
  expect(result.findings).toMatchObject([
    {
      severity: 'warning',
      code: 'broken-external-link',
      file: 'a.mdx',
      line: 3,
      message: expect.stringContaining('its site answers 404') as string,
    },
  ]);
  expect(asked.toSorted()).toEqual([
    'GET /gone',
    'GET /no-head',
    'GET /wrong-head',
    'HEAD /gone',
    'HEAD /no-head',
    'HEAD /there',
    'HEAD /wrong-head',
  ]);
});

test('a site that refuses programs or fails leaves its pages unknown', async () => {
  answer = ({ url = '' }) => [Number(url.slice(1))];
  const result = await ask(['/401', '/403', '/429', '/500', '/503']);
  expect(codes(result)).toEqual(Array.from({ length: 5 }, () => 'external-link-not-known'));
  expect(asked.filter((line) => line.endsWith('/429'))).toEqual(['HEAD /429']);
});

test('only a permanent move to another page is a finding', async () => {
  answer = ({ url = '' }) => {
    const [, status, to = ''] = /^\/(30\d)(\/.*)$/.exec(url) ?? [];
    return status === undefined ? [200] : [Number(status), { location: to }];
  };
  const result = await ask(['/301/new', '/302/new', '/308/302/new', '/301/en/301/new', '/302/302/302/new']);
  expect(codes(result)).toEqual(['external-link-moved', 'external-link-moved']);
  expect(result.findings[0]?.message).toContain(`"${origin}/new"`);
});

test('redirects in a circle and answers that do not come are not known', async () => {
  answer = ({ url }) => (url === '/circle' ? [302, { location: '/circle' }] : undefined);
  const result = await ask(['/circle', '/never'], { asker: { withinMs: 300 } });
  expect(result.findings.map(({ message }) => message.replace(/^.* exists: /, ''))).toEqual([
    'it redirects more than 10 times.',
    'its site did not answer within 0.3 s.',
  ]);
});

test('this machine and private networks are not asked without the option, also after a redirect by name', async () => {
  answer = () => [200];
  const result = await ask(['/a', 'http://10.0.0.1/x', 'https://example.com/a', 'http://localhost:1/x'], {
    allowPrivate: false,
  });
  expect(result.findings).toEqual([]);
  expect(result.leftOut).toEqual([
    '2 addresses of examples, such as example.com and localhost, were not asked.',
    '2 addresses of private networks were not asked (--private-addresses asks them).',
  ]);
  expect(asked).toEqual([]);
});

test('an address that was not asked is asked as soon as the option allows it', async () => {
  answer = () => [404];
  expect((await ask(['/a'], { allowPrivate: false })).findings).toEqual([]);
  const later = await ask(['/a'], { allowPrivate: true });
  expect(later.leftOut).toEqual([]);
  expect(codes(later)).toEqual(['broken-external-link']);
});

test('also with the option, link-local addresses are never asked, and a private site may redirect to another one', async () => {
  answer = ({ url = '' }) =>
    url === '/cloud'
      ? [302, { location: 'http://169.254.169.254/latest/meta-data' }]
      : url === '/near'
        ? [302, { location: `${origin.replace('127.0.0.1', 'localhost')}/there` }]
        : [200];
  const result = await ask(['/cloud', '/near', 'http://169.254.169.254/x']);
  expect(result.findings.map(({ message }) => message.replace(/^.* exists: /, ''))).toEqual([]);
  expect(asked.toSorted()).toEqual(['HEAD /cloud', 'HEAD /near', 'HEAD /there']);
});

test('answers are kept for their ages, and asked again on request', async () => {
  answer = ({ url }) => [url === '/gone' ? 410 : url === '/busy' ? 429 : 200];
  const paths = ['/there', '/gone', '/busy'];
  const hour = 60 * 60 * 1_000;
  const at = (hours: number) => () => 1_000_000_000_000 + hours * hour;
  await ask(paths, { now: at(0) });
  const first = codes(await ask(paths, { now: at(0.5) }));
  expect(first).toEqual(['broken-external-link', 'external-link-not-known']);
  expect(asked).toHaveLength(4);
  await ask(paths, { now: at(2) });
  expect(asked.slice(4)).toEqual(['HEAD /busy']);
  await ask(paths, { now: at(7) });
  expect(asked.slice(5).toSorted()).toEqual(['GET /gone', 'HEAD /busy', 'HEAD /gone']);
  await ask(['/there'], { now: at(8), refresh: true });
  expect(asked.at(-1)).toBe('HEAD /there');
});

test('one host gets two requests at once', async () => {
  answer = () => [200];
  await ask(Array.from({ length: 12 }, (_, at) => `/${at}`));
  expect(asked).toHaveLength(12);
  expect(most).toBeLessThanOrEqual(2);
});
