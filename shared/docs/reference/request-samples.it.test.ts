import { execFile, spawnSync } from 'node:child_process';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requestSamples } from './request-samples.ts';
import type { SampleRequest } from './sample-har.ts';

type Received = { url: string; headers: IncomingHttpHeaders; body: string };

let received: Received | undefined;
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    received = { url: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() };
    response.end('ok');
  });
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  server.close();
});

const isThere = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;
/** Languages that can be run here: the command and its option for code. */
const runnable: [title: string, command: string, args: string[]][] = [
  ['JavaScript', process.execPath, ['--input-type=module', '-e']],
];
if (isThere('curl', '--version')) runnable.push(['cURL', 'sh', ['-c']]);
if (isThere('python3', '-c', 'import requests')) runnable.push(['Python', 'python3', ['-c']]);

const nasty = `it's "quoted" back\\slash $(id) \`id\` \${HOME} $HOME #{1} %7Bname%7D é漢😀`;
const inHeader = `it's "quoted" back\\slash $(id) \`id\` \${HOME} #{1}`;

const codeOf = (request: Partial<SampleRequest>, title: string): string => {
  const whole = { method: 'POST', url: 'https://a.example/p', query: [], headers: [], cookies: [], body: undefined };
  return requestSamples({ ...whole, ...request }).find((sample) => sample.title === title)?.code ?? '';
};

describe.each(runnable)('a sample for %s sends what it says', (title, command, args) => {
  const sent = async (request: Partial<SampleRequest>): Promise<Received> => {
    received = undefined;
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}${request.url ?? '/p'}`;
    await promisify(execFile)(command, [...args, codeOf({ ...request, url }, title)]);
    if (received === undefined) throw new Error('nothing was sent');
    return received;
  };

  test.each(['application/json', 'application/vnd.api+json', 'text/plain', 'application/xml'])(
    'in a body of %s',
    async (mimeType) => {
      const value = { 'a key': nasty, lines: 'one\ntwo\t"""' };
      const text = mimeType.endsWith('json') ? JSON.stringify(value, undefined, 2) : `${nasty}\nsecond """ 'line'`;
      const { headers, body } = await sent({ body: { mimeType, text } });
      expect(headers['content-type']).toBe(mimeType);
      if (mimeType.endsWith('json')) expect(JSON.parse(body)).toEqual(value);
      else expect(body).toBe(text);
    },
  );

  test('in a body that could be the name of a file', async () => {
    expect((await sent({ body: { mimeType: 'text/plain', text: '@/etc/hostname' } })).body).toBe('@/etc/hostname');
  });

  test('in its address and headers', async () => {
    const { url, headers } = await sent({
      url: `/Users('1')/a"b\\n$(id)`,
      query: [
        ["filter[na'me]", `a&b=c+d ${nasty}`],
        ['$top', '1'],
      ],
      headers: [['X-Text', inHeader]],
      cookies: [['session', 'a b;c']],
    });
    const parsed = new URL(url, 'http://a.example');
    expect(decodeURIComponent(parsed.pathname)).toBe(`/Users('1')/a"b\\n$(id)`);
    expect(Object.fromEntries(parsed.searchParams)).toEqual({ "filter[na'me]": `a&b=c+d ${nasty}`, $top: '1' });
    expect(headers['x-text']).toBe(inHeader);
    expect(headers.cookie).toMatch(/^session=/);
  });

  test('in forms', async () => {
    const fields: [string, string][] = [
      ["it's", nasty],
      ['path', '@/etc/hostname'],
      ['made', '<string>'],
      ['typed', 'a;type=b'],
    ];
    const form = await sent({ body: { mimeType: 'application/x-www-form-urlencoded', text: '', fields } });
    expect([...new URLSearchParams(form.body)]).toEqual(fields);
    const { headers, body } = await sent({ body: { mimeType: 'multipart/form-data', text: '', fields } });
    const parts = await new Response(body, { headers: { 'Content-Type': headers['content-type'] ?? '' } }).formData();
    expect([...parts]).toEqual(fields);
  });
});

describe('a sample', () => {
  const parts = (...fields: [string, string][]) => ({ mimeType: 'multipart/form-data', text: '', fields });

  test('of PHP escapes what stands between quotes, and fills in no variables', () => {
    const query: [string, string][] = [['$top', '1']];
    const code = codeOf({ query, headers: [['X-A', inHeader]], body: parts(["it's", 'a\\']) }, 'PHP');
    expect(code).toContain('curl_init("https://a.example/p?\\$top=1")');
    expect(code).toContain(`'X-A: it\\'s "quoted" back\\\\slash $(id)`);
    expect(code).toContain("curl_mime_name($part0, 'it\\'s');\ncurl_mime_data($part0, 'a\\\\');");
    const form = {
      mimeType: 'application/x-www-form-urlencoded',
      text: '',
      fields: [['a', "it's %"]] as [string, string][],
    };
    expect(codeOf({ body: form }, 'PHP')).toContain("CURLOPT_POSTFIELDS, 'a=it\\'s%20%25'");
    expect(codeOf({ body: { mimeType: 'text/plain', text: "it's" } }, 'PHP')).toContain("CURLOPT_POSTFIELDS, 'it\\'s'");
  });

  test('of Ruby runs nothing that is in a text', () => {
    expect(codeOf({ body: { mimeType: 'text/plain', text: '#{`id`}' } }, 'Ruby')).toContain(
      'request.body = "\\#{`id`}"',
    );
    const json = { mimeType: 'application/json', text: JSON.stringify({ a: '#{`id`} "' }) };
    expect(codeOf({ body: json }, 'Ruby')).toContain(`<<~'JSON'\n{\n  "a": "#{\`id\`} \\""\n}\nJSON`);
  });

  test('of C# escapes what stands between quotes', () => {
    const authorization: [string, string] = ['Authorization', 'Digest username="a"'];
    const form = {
      mimeType: 'application/x-www-form-urlencoded',
      text: '',
      fields: [['a', '"\n']] as [string, string][],
    };
    const code = codeOf({ headers: [authorization], cookies: [['a', '"']], body: form }, 'C#');
    expect(code).toContain('request.Headers.TryAddWithoutValidation("Authorization", "Digest username=\\"a\\"");');
    expect(code).toContain('("Cookie", "a=\\"");');
    expect(code).toContain('["a"] = "\\"\\n",');
  });

  test('names a file where a form has one, and no type without its boundary', () => {
    const body = parts(['picture', '<file>'], ['note', 'x']);
    for (const { code } of requestSamples({
      method: 'POST',
      url: 'https://a.example',
      query: [],
      headers: [],
      cookies: [],
      body,
    })) {
      expect(code).not.toContain('<file>');
      expect(code).not.toMatch(/Content-Type["']?(?:\] =|[:,=]) ?["']?multipart\/form-data["']/);
    }
    expect(codeOf({ body }, 'cURL')).toContain("--form 'picture=@file'");
    expect(codeOf({ body }, 'Python')).toContain('("picture", open("file", "rb"))');
  });

  test('keeps names in braces in its address, and texts as they are', () => {
    const body = { mimeType: 'text/plain', text: 'textmark0e %7Bother%7D' };
    const samples = requestSamples({
      method: 'PUT',
      url: 'https://a.example/{id}#a',
      query: [['q', '{id}']],
      headers: [],
      cookies: [],
      body,
    });
    expect(samples).toHaveLength(8);
    for (const { code } of samples) {
      expect(code).toMatch(/a\.example\/\{id\}["'?]/);
      expect(code).toContain('textmark0e %7Bother%7D');
    }
  });
});
