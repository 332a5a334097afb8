import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { answering, description, otherSite } from '../../../test/support/other-site.ts';
import { isPrivate } from '../private-networks.ts';
import { fetchPart } from './fetch-part.ts';

const elsewhere = otherSite();

describe('fetching is bounded', () => {
  const allowed = { allowPrivate: true };
  const fetched = (path: string, bounds: object = {}) =>
    fetchPart(elsewhere.origin + path, 'description', { ...allowed, ...bounds });

  test('by size, also of what is packed on the way', async () => {
    elsewhere.answers['/large'] = answering(description('x'.repeat(200_000)));
    elsewhere.answers['/torn'] = answering(gzipSync(description('x'.repeat(200_000))).subarray(0, 90), {
      'content-encoding': 'gzip',
    });
    await expect(fetched('/torn')).rejects.toThrow('unexpected end of file');
    elsewhere.answers['/packed'] = answering(gzipSync(description('x'.repeat(200_000))), {
      'content-encoding': 'gzip',
    });
    await expect(fetched('/large', { maxBytes: 100_000 })).rejects.toThrow('it has more than 100 kB');
    await expect(fetched('/packed', { maxBytes: 100_000 })).rejects.toThrow('it has more than 100 kB');
    await expect(fetchPart(`${elsewhere.origin}/packed`, 'description', allowed)).resolves.toMatchObject({
      format: { extension: 'json' },
    });
  });

  test('by size, also where the answer never ends or unpacks to a thousand times its size', async () => {
    elsewhere.answers['/endless'] = (response) => {
      response.writeHead(200, { 'content-type': 'image/png' });
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(64 * 1024))) continue;
      };
      response.on('drain', more);
      more();
    };
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    elsewhere.answers['/bomb.gz'] = answering(bomb, { 'content-encoding': 'gzip', 'content-type': 'font/woff2' });
    await expect(fetchPart(`${elsewhere.origin}/endless`, 'picture', allowed)).rejects.toThrow(
      'it has more than 21 MB',
    );
    await expect(fetchPart(`${elsewhere.origin}/bomb.gz`, 'font', allowed)).rejects.toThrow('it has more than 8.4 MB');
  });

  test('by kind: bytes decide, and a page instead of a file is refused', async () => {
    elsewhere.answers['/page.png'] = answering('<html>', { 'content-type': 'text/html' });
    elsewhere.answers['/fake.png'] = answering('<html>', { 'content-type': 'image/png' });
    elsewhere.answers['/fake.woff2'] = answering('x'.repeat(100), { 'content-type': 'font/woff2' });
    elsewhere.answers['/style'] = answering('body { color: red }', { 'content-type': 'text/css' });
    elsewhere.answers['/real'] = answering(Buffer.from('GIF89a......'), { 'content-type': 'application/octet-stream' });
    elsewhere.answers['/drawing'] = answering('<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>', {
      'content-type': 'image/svg+xml',
    });
    await expect(fetchPart(`${elsewhere.origin}/page.png`, 'picture', allowed)).rejects.toThrow(
      'text/html, not a picture',
    );
    await expect(fetchPart(`${elsewhere.origin}/fake.png`, 'picture', allowed)).rejects.toThrow(
      'the answer is not a picture',
    );
    await expect(fetchPart(`${elsewhere.origin}/fake.woff2`, 'font', allowed)).rejects.toThrow(
      'the answer is not a font',
    );
    await expect(fetchPart(`${elsewhere.origin}/style`, 'style', allowed)).rejects.toThrow(
      'the answer has no font files',
    );
    const formatOf = async (path: string) => (await fetchPart(elsewhere.origin + path, 'picture', allowed)).format;
    expect(await formatOf('/real')).toEqual({ extension: 'gif', type: 'image/gif' });
    expect(await formatOf('/drawing')).toEqual({ extension: 'svg', type: 'image/svg+xml' });
  });

  test('by time, for the whole of it', async () => {
    elsewhere.answers['/slow'] = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{');
    };
    elsewhere.answers['/silent'] = () => undefined;
    await expect(fetched('/slow', { withinMs: 200 })).rejects.toThrow('it took longer than 0.2 s');
    await expect(fetched('/silent', { withinMs: 200 })).rejects.toThrow('it took longer than 0.2 s');
  });

  test('by redirects, each of which is looked at', async () => {
    elsewhere.answers['/loop'] = answering('', { location: '/loop' }, 302);
    elsewhere.answers['/moved'] = answering('', { location: '/openapi.json' }, 308);
    elsewhere.answers['/file'] = answering('', { location: 'file:///etc/passwd' }, 302);
    elsewhere.answers['/secret'] = answering('', { location: 'http://user:word@127.0.0.1/' }, 302);
    await expect(fetched('/loop')).rejects.toThrow('it redirects more than 5 times');
    expect(elsewhere.asked).toHaveLength(6);
    await expect(fetched('/file')).rejects.toThrow('file: is not supported');
    await expect(fetched('/secret')).rejects.toThrow('has a password in it');
    await expect(fetchPart(`${elsewhere.origin}/moved`, 'description', allowed)).resolves.toMatchObject({
      format: { extension: 'json' },
    });
  });

  test.each([
    ['/page', answering('<html>', { 'content-type': 'text/html; charset=utf-8' }), 'the answer is text/html'],
    ['/other', answering('{"a": 1}'), 'the answer is no API description: it does not say "openapi"'],
    ['/broken', answering('{"openapi": "3.0.0"'), 'the answer is no API description: it is not valid JSON'],
    [
      '/bomb',
      answering(`openapi: 3.0.0\na: &a [x]\nb: ${'[*a, '.repeat(300)}${']'.repeat(300)}\n`),
      'no API description',
    ],
    ['/away', answering('gone', {}, 410), 'answered 410'],
    ['/zip', answering('x', { 'content-encoding': 'zstd-x' }), 'the content encoding zstd-x'],
    ['/part', answering('x', { 'content-encoding': 'constructor' }), 'the content encoding constructor'],
  ])('%s is refused', async (path, answer, why) => {
    elsewhere.answers[path] = answer;
    await expect(fetched(path)).rejects.toThrow(why);
  });

  test('to public addresses, unless the author says otherwise', async () => {
    const { port } = new URL(elsewhere.origin);
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '0x7f.1', '[::ffff:127.0.0.1]', '169.254.169.254']) {
      await expect(
        fetchPart(`http://${host}:${port}/openapi.json`, 'description', { allowPrivate: false }),
      ).rejects.toThrow(/private network, which needs --private-addresses/);
    }
    expect(elsewhere.asked).toEqual([]);
  });

  test('also with leave for private addresses, a redirect of a private site may lead to another one', async () => {
    elsewhere.answers['/near'] = answering(
      '',
      { location: `${elsewhere.origin.replace('127.0.0.1', 'localhost')}/openapi.json` },
      302,
    );
    await expect(fetched('/near')).resolves.toMatchObject({ isPrivate: true });
  });

  test('never to link-local addresses, where clouds keep their credentials', async () => {
    elsewhere.answers['/away'] = answering('', { location: 'http://169.254.169.254/latest/meta-data' }, 302);
    await expect(fetched('/away')).rejects.toThrow('169.254.169.254 is a link-local address');
  });

  test.each([
    ['93.184.216.34', false],
    ['2606:2800:220:1::1', false],
    ['10.1.2.3', true],
    ['100.64.0.1', true],
    ['172.31.255.255', true],
    ['172.32.0.1', false],
    ['192.168.0.1', true],
    ['224.0.0.1', true],
    ['255.255.255.255', true],
    ['0.0.0.0', true],
    ['::', true],
    ['fd00::1', true],
    ['fe80::1%eth0', true],
    ['64:ff9b::a00:1', true],
    ['2002:7f00:1::', true],
    ['no address', true],
  ])('%s is private: %s', (address, expected) => {
    expect(isPrivate(address)).toBe(expected);
  });
});
