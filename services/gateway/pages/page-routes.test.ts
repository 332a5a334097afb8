import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type GatewayHarness, gatewayHarness } from '../../../test/support/gateway-harness.ts';
import { type OpenApiDocument, openApiDocument } from '../openapi.ts';
import { publicRoutes } from '../build-gateway.ts';
import { referencePage } from './reference-page.ts';

let gateway: GatewayHarness;
const sites = 'https://docs.acme.com/?a=1&b="2',
  wanted = 'https://docs.acme.com/?a=1&amp;b=&quot;2';

const consoleUrl = 'https://console.acme.test/?a=1&b="2',
  shownConsole = 'https://console.acme.test/?a=1&amp;b=&quot;2';

beforeAll(async () => {
  gateway = await gatewayHarness({ BINDERY_PUBLIC_SITES: sites, BINDERY_CONSOLE_URL: consoleUrl });
});
afterAll(() => gateway.close());

const get = (url: string, accept?: string) => gateway.app.inject({ url, headers: accept ? { accept } : {} });

describe('the way in', () => {
  test.each([undefined, '*/*', 'application/json'])('is JSON for a client that accepts %s', async (accept) => {
    const answer = await get('/', accept);
    expect([answer.statusCode, answer.json()]).toMatchObject([
      200,
      { openapi: '/openapi.json', docs: '/docs', sites: [sites], console: consoleUrl },
    ]);
    expect(answer.headers.vary).toBe('Accept');
  });

  test('is a page for a browser, with links to all that it names, and every address of it is there', async () => {
    const page = await get('/', 'text/html,application/xhtml+xml,*/*;q=0.8');
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    const links = [...page.body.matchAll(/href="([^"]*)"/g)].map(([, link = '']) => link);
    expect(links).toEqual(expect.arrayContaining([wanted, shownConsole]));
    const own = links.filter((link) => link.startsWith('/'));
    expect(own).toEqual(['/docs', '/openapi.json', '/readyz', '/livez']);
    for (const link of own) expect((await get(link)).statusCode).toBe(200);
  });
});

test.each(['/', '/docs'])('the page %s runs nothing and loads nothing', async (path) => {
  const page = await get(path, 'text/html');
  expect(page.headers['content-security-policy']).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
  );
  expect(page.body).not.toMatch(/<script|<link|<img|style="|\son\w+=/);
});

test('the reference has every documented route, and each address in it leads somewhere', async () => {
  const { body } = await get('/docs');
  const ids = [...body.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);
  const documented = publicRoutes.flatMap(({ declaration: { id, undocumented } }) => (undocumented ? [] : [id]));
  expect(ids.toSorted()).toEqual(['content', ...documented].toSorted());
  for (const [, id] of body.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(id);
});

test('the texts of a description are escaped', () => {
  const document: OpenApiDocument = openApiDocument(publicRoutes);
  const operation = document.paths['/v1/audit']?.get;
  if (operation === undefined) throw new Error('there is no such route');
  operation.summary = '<script>alert(1)</script>';
  expect(referencePage(document).text).toContain('<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>');
});

test('a method that no route has is answered like a path that there is not', async () => {
  const answer = await gateway.app.inject({ method: 'QUERY' as 'GET', url: '/v1/audit' });
  expect([answer.statusCode, answer.json().code]).toEqual([404, 'not_found']);
});
