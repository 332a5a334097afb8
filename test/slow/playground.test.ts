import { execFile } from 'node:child_process';
import { createServer, type IncomingMessage } from 'node:http';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { onLoopback } from '../support/on-loopback.ts';
import { siteInBrowser } from '../browser/site-folder.ts';

type Received = { method: string; url: string; headers: IncomingMessage['headers']; body: string };

/** Starts the server of an API that every page may call (CORS). It records requests, and answers as their path says. */
async function openApi(elsewhere = '') {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const asked = headers['access-control-request-headers'];
      const open = {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': '*',
        ...(asked !== undefined && { 'access-control-allow-headers': asked }),
      };
      if (method === 'OPTIONS') return response.writeHead(204, open).end();
      received.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      if (url.startsWith('/v1/closed')) return response.writeHead(200).end('{}');
      if (url.startsWith('/v1/never')) return undefined;
      if (url.startsWith('/v1/picture'))
        return response.writeHead(200, { ...open, 'content-type': 'image/svg+xml' }).end(picture);
      const [, status] = /^\/v1\/away\/(\d+)/.exec(url) ?? [];
      if (status !== undefined)
        return response.writeHead(Number(status), { ...open, location: `${elsewhere}/taken` }).end();
      const odd = oddAnswers[url];
      if (odd) return response.writeHead(odd.status ?? 200, { ...open, ...odd.headers }).end(odd.body);
      const body = JSON.stringify({ id: 7, name: '<img src=x onerror=alert(1)>', tags: ['a', null, true] });
      return response.writeHead(201, { ...open, 'content-type': 'application/json' }).end(body);
    });
  });
  return { ...(await onLoopback(server)), received };
}

const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><rect width="40" height="20"/></svg>';

const json = { 'content-type': 'application/json' };
/** Answers that a malicious or faulty server might give. */
const oddAnswers: Record<string, { status?: number; headers: Record<string, string>; body: string | Buffer }> = {
  '/v1/odd/deep': { headers: json, body: '['.repeat(100_000) + ']'.repeat(100_000) },
  '/v1/odd/exact': { headers: json, body: '{"id":12345678901234567890}' },
  '/v1/odd/latin': {
    headers: { 'content-type': 'text/plain; charset=ISO-8859-1' },
    body: Buffer.from('caf\u00e9', 'latin1'),
  },
  '/v1/odd/broken': { headers: { ...json, 'content-encoding': 'gzip' }, body: 'no gzip' },
  '/v1/odd/moved': { status: 307, headers: { location: '/v1/odd/exact' }, body: '' },
};

const specification = {
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1' },
  servers: [{ url: 'SERVER/v1' }],
  security: [{ bearerAuth: [] }],
  components: {
    securitySchemes: {
      bearerAuth: { type: 'http', scheme: 'bearer' },
      headerKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      queryKey: { type: 'apiKey', in: 'query', name: 'key' },
    },
  },
  paths: {
    '/owners/{owner}/pets': {
      post: {
        summary: 'Add a pet',
        description: 'Adds a pet to those of an owner.',
        parameters: [
          { name: 'owner', in: 'path', required: true, description: 'Whose pet it is.', schema: { type: 'string' } },
          { name: 'kind', in: 'query', schema: { type: 'string', enum: ['cat', 'dog'] } },
          { name: 'filter', in: 'query', style: 'deepObject', schema: { type: 'object' } },
          { name: 'tag', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
          { name: 'X-Trace', in: 'header', schema: { type: 'string' }, example: 'abc-1' },
          { name: 'session', in: 'cookie', schema: { type: 'string' } },
        ],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['name'],
                properties: { name: { type: 'string', example: 'Mia' }, age: { type: 'integer', example: 3 } },
              },
            },
            'multipart/form-data': {
              schema: {
                type: 'object',
                properties: {
                  name: { type: 'string' },
                  facts: { type: 'object', properties: { age: { type: 'integer' } } },
                  photo: { type: 'string', format: 'binary' },
                },
              },
            },
          },
        },
        responses: { 201: { description: 'Added', content: { 'application/json': { schema: { type: 'object' } } } } },
      },
    },
    '/closed': { get: { summary: 'Closed', responses: {} } },
    '/never': { get: { summary: 'Never', responses: {} } },
    '/picture': { get: { summary: 'Picture', responses: {} } },
    '/odd/{kind}': {
      get: {
        summary: 'Odd',
        parameters: [{ name: 'kind', in: 'path', required: true, schema: { type: 'string' } }],
        responses: {},
      },
    },
    '/away/{status}': {
      post: {
        summary: 'Away',
        parameters: [{ name: 'status', in: 'path', required: true, schema: { type: 'string' } }],
        security: [{ headerKey: [] }],
        requestBody: { content: { 'application/json': { example: { card: '4111' } } } },
        responses: {},
      },
      get: {
        summary: 'Away with a key',
        parameters: [{ name: 'status', in: 'path', required: true, schema: { type: 'string' } }],
        security: [{ queryKey: [] }],
        responses: {},
      },
    },
    '/named': { get: { summary: 'Named', servers: [{ url: 'https://{constructor}.example.invalid' }], responses: {} } },
    '/elsewhere': {
      get: { summary: 'Elsewhere', servers: [{ url: '/v1' }, { url: 'javascript:alert(1)//' }], responses: {} },
    },
  },
};

const navigation = {
  languages: [
    {
      language: 'en',
      groups: [
        {
          group: 'Pets',
          pages: [
            'index',
            'plain',
            'closed',
            'never',
            'picture',
            'elsewhere',
            'simple',
            'hand',
            'hostile',
            'odd',
            'away',
            'away-key',
            'named',
          ],
        },
      ],
    },
    { language: 'ar', groups: [{ group: 'حيوانات', pages: ['ar/index'] }] },
  ],
};
const settings = { name: 'Pets', theme: 'mint', colors: { primary: '#0f766e' }, navigation };
const page = (frontmatter: string, below = ''): string => `---\n${frontmatter}\n---\n${below}`;
const hostileText = '</script><script>document.title = "run"</script><img src=x onerror="document.title = 1">';
const files = {
  'docs.json': JSON.stringify(settings),
  'openapi.json': JSON.stringify(specification),
  'hostile.json': JSON.stringify({
    openapi: '3.0.0',
    info: { title: 'H', version: '1' },
    servers: [
      {
        url: 'https://{host}@api.example.invalid',
        variables: { host: { default: hostileText } },
        description: hostileText,
      },
      { url: 'data:text/html,x' },
      { url: 'https://api.example.invalid' },
    ],
    paths: {
      '/x/{a}': {
        get: {
          summary: 'Hostile',
          parameters: [
            { name: 'a', in: 'path', required: true, schema: { type: 'string', enum: ['..', hostileText] } },
            {
              name: hostileText,
              in: 'query',
              example: hostileText,
              schema: { type: hostileText, default: hostileText },
            },
          ],
        },
      },
    },
  }),
  'index.mdx': page('openapi: openapi.json POST /owners/{owner}/pets'),
  'ar/index.mdx': page('title: إضافة حيوان\nopenapi: openapi.json POST /owners/{owner}/pets'),
  'closed.mdx': page('openapi: openapi.json GET /closed'),
  'never.mdx': page('openapi: openapi.json GET /never'),
  'picture.mdx': page('openapi: openapi.json GET /picture'),
  'elsewhere.mdx': page('openapi: openapi.json GET /elsewhere'),
  'odd.mdx': page('openapi: openapi.json GET /odd/{kind}'),
  'away.mdx': page('openapi: openapi.json POST /away/{status}'),
  'away-key.mdx': page('openapi: openapi.json GET /away/{status}'),
  'named.mdx': page('openapi: openapi.json GET /named'),
  'simple.mdx': page('openapi: openapi.json GET /closed\nplayground: simple'),
  'hostile.mdx': page('openapi: hostile.json GET /x/{a}'),
  'hand.mdx': page(
    'title: By hand\napi: PUT SERVER/v1/by/{hand}\nauthMethod: basic',
    '<ParamField path="hand" type="string" required>A hand.</ParamField>\n<ParamField body="size" type="integer" default="4">Of it.</ParamField>\n',
  ),
  'plain.mdx': 'Nothing to try.',
};

/** The files of the project, with the address of the server. */
const filesFor = (server: string): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [path, text.replaceAll('SERVER', server)]));

const other = await openApi();
const otherOrigin = other.url;
const api = await openApi(otherOrigin);
const server = api.url;

describeWithServers(['chromium'], 'the playground in Chromium', () => {
  const { open, problems, keepPicture, folder } = siteInBrowser(filesFor(server));
  afterAll(() => Promise.all([api.close(), other.close()]));

  async function tried(path: string, options: Parameters<typeof open>[1] = {}): Promise<Page> {
    const opened = await open(path, options);
    await opened.locator('.try-operation').click();
    await opened.locator('dialog.playground').waitFor();
    return opened;
  }
  const command = (opened: Page) => opened.locator('.playground-command code').innerText();
  /** Expects no problems except for requests to the API, which are intended. */
  const unmeant = () => problems.filter((problem) => ![server, otherOrigin].some((each) => problem.startsWith(each)));

  for (const width of [390, 1440]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const path of ['index.html', 'ar/index.html']) {
        test(`sends what its command shows: ${path} at ${width} px, ${colorScheme}`, async () => {
          const opened = await tried(path, { viewport: { width, height: 900 }, colorScheme });
          const labels = opened.locator('.playground-fields');
          await labels.getByLabel('owner').fill('Zoë & co/1');
          await labels.getByLabel('kind').selectOption('cat');
          await labels.getByLabel('filter').fill('{"age": {"gte": 2}}');
          await labels.getByLabel('tag').fill('red\nsmall');
          await labels.getByLabel('X-Trace').fill("it's");
          await labels.locator('input[type=password]').fill('secret-token');
          await labels.locator('textarea[dir=ltr]').fill('{\n  "name": "Mía\'s"\n}');
          const shown = await command(opened);
          api.received.length = 0;
          await opened.locator('button.playground-send:visible').click();
          await opened.locator('.playground-code-of-status').waitFor();
          await keepPicture(opened, `playground-${path.replaceAll('/', '-')}-${width}-${colorScheme}`);
          await promisify(execFile)('sh', ['-c', shown.replace(/^curl /, 'curl --silent ')]);
          const [sent, curled] = api.received;
          expect(sent?.method).toBe('POST');
          expect(sent?.url).toBe(
            '/v1/owners/Zo%C3%AB%20%26%20co%2F1/pets?kind=cat&filter%5Bage%5D%5Bgte%5D=2&tag=red&tag=small',
          );
          expect(sent?.headers).toMatchObject({
            authorization: 'Bearer secret-token',
            'x-trace': "it's",
            'content-type': 'application/json',
          });
          expect(sent?.headers).not.toHaveProperty('referer');
          expect(sent?.body).toBe('{\n  "name": "Mía\'s"\n}');
          const named = ({ method, url, headers, body }: Received) => {
            const { authorization, 'x-trace': trace, 'content-type': type, 'content-length': length } = headers;
            return { method, url, body, authorization, trace, type, length };
          };
          expect(curled && named(curled)).toEqual(sent && named(sent));
          expect(await opened.locator('.playground-answer').innerText()).toContain('<img src=x onerror=alert(1)>');
          expect(await opened.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
          expect(await opened.evaluate('Object.keys(localStorage).concat(Object.keys(sessionStorage))')).toEqual([]);
          expect(unmeant()).toEqual([]);
        });
      }
    }
  }

  test('sends forms with files as their command does', async () => {
    const opened = await tried('index.html');
    const photo = join(folder(), 'a "photo".txt');
    await writeFile(photo, 'light');
    await opened.locator('.playground-fields').getByLabel('owner').fill('o');
    await opened.getByRole('combobox', { name: 'Body' }).selectOption('multipart/form-data');
    await opened.locator('.playground-fields').getByLabel('name').fill('@Mia;type=x');
    await opened.locator('.playground-fields').getByLabel('facts').fill('{"age": "3\\""}');
    await opened.locator('.playground-fields').getByLabel('photo').setInputFiles(photo);
    const shown = await command(opened);
    api.received.length = 0;
    await opened.getByRole('button', { name: 'Send' }).click();
    await opened.locator('.playground-code-of-status').waitFor();
    await promisify(execFile)('sh', ['-c', shown.replace(/^curl /, 'curl --silent ')], { cwd: folder() });
    const [sent, curled] = api.received.map(({ headers, body }) => {
      const [, boundary = ''] = /boundary=(.*)$/.exec(headers['content-type'] ?? '') ?? [];
      return body.replaceAll(boundary, 'B').replaceAll(/^-+B/gm, '--B').replaceAll('\\"', '%22');
    });
    expect(sent).toContain('name="name"\r\n\r\n@Mia;type=x\r\n');
    expect(sent).toContain('name="facts"\r\nContent-Type: application/json\r\n\r\n{"age":"3%22"}');
    expect(curled).toBe(sent);
  });

  test('works by keyboard alone: open, send, cancel, close', async () => {
    const opened = await open('never.html');
    await opened.locator('.try-operation').focus();
    await opened.keyboard.press('Enter');
    await opened.locator('dialog.playground').waitFor();
    await opened.getByLabel('Token').focus();
    await opened.keyboard.type('t');
    await opened.keyboard.press('Enter');
    const cancel = opened.getByRole('button', { name: 'Cancel' });
    await cancel.focus();
    await opened.keyboard.press('Enter');
    await opened.getByText('You cancelled the request.').first().waitFor();
    expect(await opened.evaluate('document.activeElement.textContent')).toBe('Send');
    await opened.keyboard.press('Escape');
    await opened.locator('dialog.playground').waitFor({ state: 'hidden' });
    expect(await opened.evaluate('document.activeElement.className')).toContain('try-operation');
    await opened.keyboard.press('Enter');
    expect(await opened.getByLabel('Token').inputValue()).toBe('t');
  });

  test('names both possible causes when a server does not allow the page', async () => {
    const opened = await tried('closed.html');
    await opened.getByRole('button', { name: 'Send' }).click();
    await opened.getByText('does not allow pages of null to read its responses (CORS)').first().waitFor();
    await keepPicture(opened, 'playground-refused');
  });

  test('shows pictures, within the policy of the page', async () => {
    const opened = await tried('picture.html');
    await opened.getByRole('button', { name: 'Send' }).click();
    const width = "document.querySelector('.playground-picture')?.naturalWidth";
    // Waiting in the page would be eval, which its policy forbids.
    await expect.poll(() => opened.evaluate(width)).toBe(40);
    expect(unmeant()).toEqual([]);
  });

  test('asks for the address of a server that the site does not know, and accepts only http', async () => {
    const opened = await tried('elsewhere.html');
    const send = opened.getByRole('button', { name: 'Send' });
    await send.click();
    await opened.locator('.playground-problem', { hasText: 'Enter the address of the server' }).waitFor();
    await opened.getByLabel('Server address').fill('javascript:alert(1)');
    await send.click();
    await opened.locator('.playground-problem', { hasText: 'Enter the address of the server' }).waitFor();
    await opened.getByLabel('Server address').fill(`${server}/v1`);
    await send.click();
    await opened.locator('.playground-code-of-status').waitFor();
    expect(api.received.at(-1)?.url).toBe('/v1/elsewhere');
  });

  test('takes the fields of a page with `api`', async () => {
    const opened = await tried('hand.html');
    await opened.locator('.playground-fields').getByLabel('hand').fill('left');
    await opened.getByLabel('Username').fill('ä');
    await opened.getByLabel('Password').fill('p:w');
    expect(await command(opened)).toBe(
      `curl '${server}/v1/by/left' \\\n  --request PUT \\\n  --header 'Authorization: Basic w6Q6cDp3' \\\n  --header 'Content-Type: application/json' \\\n  --data-raw '{\n  "size": 4\n}'`,
    );
  });

  test('runs no code of a hostile description, and sends nothing to other servers', async () => {
    const opened = await tried('hostile.html');
    const send = opened.getByRole('button', { name: 'Send' });
    await send.click();
    await opened.locator('.playground-problem', { hasText: 'Enter the address of the server' }).waitFor();
    const servers = opened.getByRole('combobox', { name: 'Servers' });
    expect(await servers.locator('option').count()).toBe(2);
    await servers.selectOption('1');
    await send.click();
    await opened.locator('.playground-problem', { hasText: 'The value of a would change the path' }).waitFor();
    expect(await opened.title()).toContain('Hostile');
    expect(await opened.locator('dialog.playground :is(img, script)').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test.each([
    ['deep', 'Only the beginning is shown.'],
    ['exact', '"id": 12345678901234567890'],
    ['latin', 'caf\u00e9'],
    ['broken', 'The browser got no response that this page may read.'],
    ['moved', `→ ${server}/v1/odd/exact`],
  ])('shows an answer that is %s', async (kind, shown) => {
    const opened = await tried('odd.html');
    await opened.locator('.playground-fields').getByLabel('kind').fill(kind);
    await opened.getByRole('button', { name: 'Send' }).click();
    await opened.locator('.playground-answer', { hasText: shown }).waitFor();
    expect(unmeant().filter((problem) => !problem.includes('ERR_CONTENT_DECODING_FAILED'))).toEqual([]);
  });

  test.each(['301', '302', '303', '307', '308'])(
    'sends no key and no body to the target of a redirect with %s',
    async (status) => {
      const opened = await tried('away.html');
      await opened.locator('.playground-fields').getByLabel('status').fill(status);
      await opened.locator('.playground-fields').getByLabel('X-API-Key').fill('secret-key');
      api.received.length = other.received.length = 0;
      await opened.getByRole('button', { name: 'Send' }).click();
      const said = `It is not followed, so that your key and your entries are sent only to ${server}.`;
      await opened.locator('.playground-problem', { hasText: said }).waitFor();
      await opened.locator('.playground-problem', { hasText: 'the Location header has the address' }).waitFor();
      await keepPicture(opened, `playground-redirected-${status}`);
      expect(api.received).toMatchObject([{ headers: { 'x-api-key': 'secret-key' }, body: '{\n  "card": "4111"\n}' }]);
      expect(other.received).toEqual([]);
      expect(unmeant()).toEqual([]);
    },
  );

  test('does not follow a redirect with a key in the address either', async () => {
    const opened = await tried('away-key.html');
    await opened.locator('.playground-fields').getByLabel('status').fill('302');
    other.received.length = 0;
    const send = opened.getByRole('button', { name: 'Send' });
    await opened.locator('.playground-fields input[type=password]').fill('secret-key');
    await send.click();
    await opened.locator('.playground-problem', { hasText: 'not followed' }).waitFor();
    expect(other.received).toEqual([]);
    // A request without a key has no secret, so the browser may follow its redirect.
    await opened.locator('.playground-fields input[type=password]').fill('');
    await send.click();
    await opened.locator('.playground-answer', { hasText: `→ ${otherOrigin}/taken` }).waitFor();
  });

  test('opens where a server has a name in braces that all objects of JavaScript have', async () => {
    const opened = await tried('named.html');
    expect(await command(opened)).toContain('.example.invalid/named');
  });

  test('is an address to copy where the page says so', async () => {
    const opened = await open('simple.html');
    expect(await opened.locator('.try-operation, .playground-form').count()).toBe(0);
    expect(await opened.locator('.copy-endpoint').getAttribute('data-copy')).toBe(`${server}/v1/closed`);
    await opened.locator('.copy-endpoint').click();
    await opened.locator('.copy-endpoint.done').waitFor();
  });

  const loaded = "performance.getEntriesByType('resource').filter(({ name }) => name.includes('playground')).length";

  test('loads nothing on pages without an operation, and no file before it is opened', async () => {
    const plain = await open('plain.html');
    expect(await plain.content()).not.toContain('playground');
    const opened = await open('index.html');
    expect(await opened.locator('.try-operation').isVisible()).toBe(true);
    expect(await opened.evaluate(loaded)).toBe(0);
  });

  test('does not exist without scripts', async () => {
    const opened = await open('index.html', { javaScriptEnabled: false });
    expect(await opened.locator('.try-operation').isVisible()).toBe(false);
    expect(await opened.locator('script.playground-form').isVisible()).toBe(false);
  });

  test('is off where config.js says so, as in an air-gapped bundle', async () => {
    const path = join(folder(), '_bindery/config.js');
    const written = await readFile(path, 'utf8');
    await writeFile(path, written.replace('"playground": true', '"playground": false'));
    const opened = await open('index.html');
    expect(await opened.locator('.try-operation').isVisible()).toBe(false);
    await writeFile(path, written);
  });

  for (const width of [390, 1440]) {
    test(`is one button in the page at ${width} px`, async () => {
      const opened = await open('index.html', { viewport: { width, height: 900 } });
      expect(await opened.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      await keepPicture(opened, `operation-${width}`);
    });
  }
});
