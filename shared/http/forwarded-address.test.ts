import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, describe, expect, test } from 'vitest';
import { checkForwarded, readForwarded } from './forwarded-address.ts';

describe('addresses in the header of proxies', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.7, 198.51.100.1', '192.0.2.7, 198.51.100.1'],
    ['192.0.2.7:50123', '192.0.2.7'],
    ['[2001:db8::9]:443', '2001:db8::9'],
    ['"[2001:db8::9]:443"', '2001:db8::9'],
    ['[2001:db8::9]', '2001:db8::9'],
    ['2001:db8::9', '2001:db8::9'],
    ['fe80::1%eth0', 'fe80::1'],
    ['[fe80::1%25eth0]:80', 'fe80::1'],
    ['::ffff:192.0.2.7', '::ffff:192.0.2.7'],
    [' , 192.0.2.7,, 198.51.100.1 ,', '192.0.2.7, 198.51.100.1'],
    ['', undefined],
    [' , ', undefined],
    ['unknown', undefined],
    ['_hidden', undefined],
    ['192.0.2.7, made-up-1, 198.51.100.1', '198.51.100.1'],
    ['made-up, 192.0.2.7', '192.0.2.7'],
    ['192.0.2.7, made-up', undefined],
    ['192.0.2.0/24', undefined],
    ['192.0.2.7:port', undefined],
    ['192.0.2.07', undefined],
    ['3221225991', undefined],
    ['0xC0000207', undefined],
    ['192.0.2.7 198.51.100.1', undefined],
    ['for=192.0.2.7', undefined],
    ["'; drop table", undefined],
  ])('%j is read as %j', (text, addresses) => {
    expect(readForwarded(text).addresses).toBe(addresses);
  });

  test('an invalid entry is named, and one that is left out without loss is not', () => {
    expect(readForwarded('192.0.2.7, made-up').wrong).toBe('made-up');
    expect(readForwarded(' , 192.0.2.7,').wrong).toBeUndefined();
    expect(readForwarded(Array.from({ length: 5_000 }, () => '192.0.2.7').join(',')).addresses?.length).toBeLessThan(
      500,
    );
  });
});

describe('a server behind trusted proxies', () => {
  let app: FastifyInstance;
  afterEach(() => app.close());

  function start(trustProxy: string[]) {
    const said: object[] = [];
    app = Fastify({ trustProxy: trustProxy.length === 0 ? false : trustProxy });
    checkForwarded(app, trustProxy, { warn: (what) => said.push(what) });
    app.get('/', async (request) => request.ip);
    const from = async (remoteAddress: string, forwarded: string) =>
      (await app.inject({ url: '/', remoteAddress, headers: { 'x-forwarded-for': forwarded } })).body;
    return { said, from };
  }

  test('counts a request for the proxy if that names no address for it, and logs this once', async () => {
    const { said, from } = start(['10.0.0.0/8']);
    expect(await from('10.0.0.1', '192.0.2.7:1234')).toBe('192.0.2.7');
    expect(said).toEqual([]);
    for (let at = 0; at < 5; at += 1) expect(await from('10.0.0.1', `192.0.2.7, made-up-${at}`)).toBe('10.0.0.1');
    expect(said).toEqual([{ proxy: '10.0.0.1', entry: 'made-up-0' }]);
    // With two proxies, the one that received the invalid entry counts.
    expect(await from('10.0.0.1', 'made-up, 10.0.0.2')).toBe('10.0.0.2');
    expect(await from('10.0.0.1', '192.0.2.7, 10.0.0.2, 10.0.0.3')).toBe('192.0.2.7');
  });

  test('does not use the header of other clients, and logs nothing about it', async () => {
    const { said, from } = start(['10.0.0.0/8']);
    expect(await from('203.0.113.9', 'made-up')).toBe('203.0.113.9');
    expect(await from('203.0.113.9', '192.0.2.7')).toBe('203.0.113.9');
    expect(said).toEqual([]);
  });

  test('without a proxy uses no header', async () => {
    const { from } = start([]);
    expect(await from('10.0.0.1', '192.0.2.7')).toBe('10.0.0.1');
  });
});
