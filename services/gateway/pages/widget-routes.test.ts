import { createHash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AgentGateway, agentGateway, openTestSite } from '../../../test/support/agent-gateway.ts';
import { bearer } from '../../../test/support/gateway-harness.ts';

let gateway: AgentGateway;
beforeAll(async () => {
  gateway = await agentGateway({}, {});
});
afterAll(() => gateway.close());

const get = (url: string, headers: Record<string, string> = {}) => gateway.app.inject({ url, headers });

describe('the script of the widget', () => {
  test('has a stable address that names an address for good and the value of integrity', async () => {
    const stable = await get('/_bindery/widget.js');
    expect(stable.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=300, stale-while-revalidate=86400',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      vary: 'Accept-Encoding',
      'x-widget-integrity': `sha256-${createHash('sha256').update(stable.rawPayload).digest('base64')}`,
    });
    const versioned = await get(String(stable.headers['content-location']));
    expect(versioned.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(versioned.rawPayload.equals(stable.rawPayload)).toBe(true);
    const etag = String(stable.headers.etag);
    expect((await get('/_bindery/widget.js', { 'if-none-match': `"x", W/${etag}` })).statusCode).toBe(304);
    expect((await get('/_bindery/widget.js', { 'if-none-match': '"x"' })).statusCode).toBe(200);
    const other = await get('/_bindery/@0000000000000000/widget.js');
    expect([other.statusCode, other.json().code]).toEqual([404, 'not_found']);
    expect(other.headers['cache-control']).toBe('no-store');
  });

  test('takes less than 25,000 bytes on the wire', async () => {
    const plain = (await get('/_bindery/widget.js')).rawPayload;
    const br = await get('/_bindery/widget.js', { 'accept-encoding': 'gzip, deflate, br, zstd' });
    expect([br.headers['content-encoding'], br.rawPayload.length < 25_000]).toEqual(['br', true]);
    expect(brotliDecompressSync(br.rawPayload).equals(plain)).toBe(true);
    const gzip = await get('/_bindery/widget.js', { 'accept-encoding': 'gzip, br;q=0' });
    expect(gzip.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(gzip.rawPayload).equals(plain)).toBe(true);
    expect(plain.toString()).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|\beval\(|new Function|document\.write/,
    );
  });
});

describe('the settings of the widget', () => {
  const settings = (headers: Record<string, string>) => get('/discovery/v1/widget/docs', headers);

  test('are the colours of the searched content, and the address of the live site', async () => {
    const before = await settings(bearer(gateway.acme.assistantKey));
    expect(before.headers['cache-control']).toBe('private, max-age=300');
    expect(before.json().site).toBeUndefined();
    const { light, dark } = before.json().colors;
    expect([light.accent, dark.accent]).toEqual(['#0d9373', '#0d9373']);
    expect(light.bg).not.toBe(dark.bg);
    await openTestSite(gateway, gateway.acme);
    expect((await settings(bearer(gateway.acme.assistantKey))).json().site).toMatch(/^https?:\/\//);
  });

  test('need a key', async () => {
    expect((await settings({})).statusCode).toBe(401);
  });
});
