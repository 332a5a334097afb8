import { execFile, spawnSync } from 'node:child_process';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requestSamples } from './request-samples.ts';
import type { SampleField, SampleRequest } from './sample-request.ts';

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
/** Languages that can be run on this machine: the command and its option for code. */
const runnable: [title: string, command: string, args: string[]][] = [
  ['JavaScript', process.execPath, ['--input-type=module', '-e']],
];
if (isThere('curl', '--version') && isThere('bash', '--version')) runnable.push(['cURL', 'bash', ['-c']]);
if (isThere('python3', '-c', 'import requests')) runnable.push(['Python', 'python3', ['-c']]);

const nasty = `it's "quoted" back\\slash $(id) \`id\` \${HOME} $HOME #{1} %7Bname%7D é漢😀`;
const inHeader = `it's "quoted" back\\slash $(id) \`id\` \${HOME} #{1}`;

const plain = { method: 'POST', url: 'https://a.example/p', query: [], headers: [], cookies: [], body: undefined };

const codeOf = (request: Partial<SampleRequest>, title: string): string => {
  return requestSamples({ ...plain, ...request }).find((sample) => sample.title === title)?.code ?? '';
};

describe.each(runnable)('a sample for %s sends the described request', (title, command, args) => {
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
      ['@/etc/hostname', '</etc/hostname'],
    ];
    const written = fields.map(([name, value]) => ({ name, value }));
    const form = await sent({ body: { mimeType: 'application/x-www-form-urlencoded', text: '', fields: written } });
    expect([...new URLSearchParams(form.body)]).toEqual(fields);
    const partsOf = async (all: SampleField[]) => {
      const { headers, body } = await sent({ body: { mimeType: 'multipart/form-data', text: '', fields: all } });
      const init = { headers: { 'Content-Type': headers['content-type'] ?? '' } };
      return { body, parts: [...(await new Response(body, init).formData())] };
    };
    expect((await partsOf(written)).parts).toEqual(fields);
    // The command can write a name with `=` only as part of a text.
    const odd = [...written, { name: '=x', value: '@/etc/hostname' }];
    expect((await partsOf(odd)).parts).toEqual([...fields, ['=x', '@/etc/hostname']]);
    const typed = await partsOf([{ name: 'meta', value: '{"a": ";\\"}', mimeType: 'application/json' }]);
    expect(typed.body).toMatch(
      /name="meta"(?:; filename="blob")?\r\n[^{]*application\/json\r\n\r\n\{"a": ";\\"\}\r\n/i,
    );
  });
});

describe('a sample', () => {
  const parts = (...fields: SampleField[]) => ({ mimeType: 'multipart/form-data', text: '', fields });

  test('names a file for each file of a form, and no multipart type without its boundary', () => {
    const body = parts(
      { name: 'picture', value: '', isFile: true, mimeType: 'image/png' },
      { name: 'note', value: 'x' },
    );
    for (const { code } of requestSamples({ ...plain, method: 'POST', body }))
      expect(code).not.toMatch(/Content-Type["']?(?:\] =|[:,=]) ?["']?multipart\/form-data["']/);
    expect(codeOf({ body }, 'cURL')).toContain("--form 'picture=@file;type=image/png'");
    expect(codeOf({ body }, 'Python')).toContain('("picture", ("file", open("file", "rb"), "image/png"))');
    expect(codeOf({ body }, 'JavaScript')).toContain(
      "formData.append('picture', new Blob([], { type: 'image/png' }), 'file')",
    );
    expect(codeOf({ body }, 'PHP')).toContain("'picture' => new CURLFile('file', 'image/png'),");
    expect(codeOf({ body }, 'Java')).toContain('.field("picture", new java.io.File("file"), "image/png")');
    expect(codeOf({ body }, 'Ruby')).toContain("['picture', File.open('file'), { content_type: 'image/png' }],");
    expect(codeOf({ body }, 'C#')).toContain(
      'content.Add(new StreamContent(File.OpenRead("file")), "picture", "file");',
    );
  });

  test('reads a body that is a file from a file', () => {
    const body = { mimeType: 'image/png', text: '', isFile: true as const };
    expect(codeOf({ body }, 'cURL')).toContain("--data-binary '@file'");
    for (const { code } of requestSamples({ ...plain, method: 'POST', body })) expect(code).toMatch(/file|Blob/i);
  });

  test('keeps names in braces in its address, and texts unchanged', () => {
    const body = { mimeType: 'text/plain', text: 'zq %7Bother%7D' };
    const samples = requestSamples({
      ...plain,
      method: 'PUT',
      url: 'https://a.example/{id}#a',
      query: [['q', '{id}']],
      body,
    });
    expect(samples).toHaveLength(8);
    for (const { code } of samples) {
      expect(code).toMatch(/a\.example\/\{id\}\?q=\{id\}["']/);
      expect(code).toContain('zq %7Bother%7D');
    }
  });

  test('escapes invisible characters, and is missing if a language cannot', () => {
    const body = { mimeType: 'text/plain', text: 'a\u001b[201~\u202e' };
    for (const { code } of requestSamples({ ...plain, method: 'POST', body }))
      expect(code).not.toMatch(/[\u001b\u202e]/u);
    expect(codeOf({ body: { mimeType: 'text/plain', text: 'a\0' } }, 'cURL')).toBe('');
  });

  test('keeps the digits of numbers', () => {
    const text = '{ "n": 9007199254740993, "price": 1.0, "large": 1e400 }';
    for (const { code } of requestSamples({ ...plain, method: 'POST', body: { mimeType: 'application/json', text } }))
      for (const digits of ['9007199254740993', '1.0', '1e400']) expect(code).toContain(digits);
  });
});
