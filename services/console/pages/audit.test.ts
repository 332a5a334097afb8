import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditListSchema } from '#shared/interfaces/http/audit.ts';
import { escapeHtml } from '#shared/docs/render/html.ts';
import { type ConsoleHarness, consoleHarness } from '../../../test/support/console-harness.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  operatorToken,
  type TestOrganization,
} from '../../../test/support/gateway-harness.ts';

const script = '<script>alert(1)</script>';

let gateway: GatewayHarness;
let acme: TestOrganization;
let site: ConsoleHarness;
let visitor: Awaited<ReturnType<ConsoleHarness['signedIn']>>;

beforeAll(async () => {
  gateway = await gatewayHarness({ BINDERY_LIMIT_KEYS_PER_HOUR: '1000' });
  acme = await createOrganization(gateway);
  await createOrganization(gateway, 'Globex', 'enterprise', { domain: 'blog' });
  site = await consoleHarness(gateway);
  for (const name of ['=1+1', script, ...Array.from({ length: 60 }, (_, at) => `key ${at}`)])
    await gateway.app.inject({
      method: 'POST',
      url: '/v1/api-keys',
      headers: bearer(acme.adminKey),
      payload: { kind: 'assistant', name },
    });
  await gateway.bus.projected();
  visitor = await site.signedIn(acme.adminKey);
});
afterAll(async () => {
  await site.close();
  await gateway.close();
});

const interfaceSays = async (query = '') =>
  auditListSchema.parse(
    (await gateway.app.inject({ url: `/v1/audit${query}`, headers: bearer(acme.adminKey) })).json(),
  );
/** Action, actor and exact time of each row of a page. */
const rowsOf = (html: string) =>
  [
    ...html.matchAll(/<tr><th scope="row"><a [^>]*>([^<]*)<\/a><\/th>.*?title="([^"]*)">.*?<time datetime="([^"]*)"/gs),
  ].map(([, action, , time]) => [action, time]);

test('shows the entries of the interface, page by page', async () => {
  let address: string | undefined = '/o/acme/audit';
  let query = '';
  let pages = 0;
  while (address !== undefined) {
    const { html } = await visitor.get(address);
    const { entries, nextCursor } = await interfaceSays(query);
    expect(rowsOf(html)).toEqual(entries.map(({ action, time }) => [action.replaceAll(/[.-]/g, ' '), time]));
    const next: string | undefined = /href="([^"]*)" rel="next"/.exec(html)?.[1]?.replaceAll('&amp;', '&');
    expect(next === undefined).toBe(nextCursor === undefined);
    query = `?cursor=${encodeURIComponent(nextCursor ?? '')}`;
    address = next;
    pages += 1;
  }
  expect(pages).toBe(2);
});

test('filters by what its address says, and ignores what is wrong in it', async () => {
  const shown = async (query: string) => rowsOf((await visitor.get(`/o/acme/audit?${query}`)).html);
  const times = async (query: string) =>
    (await interfaceSays(`?${query}`)).entries.map(({ action, time }) => [action.replaceAll(/[.-]/g, ' '), time]);
  expect(await shown('action=organization')).toEqual(await times('action=organization'));
  expect(await shown('actor=operator')).toEqual(await times('actor=operator'));
  expect(await shown('domain=docs')).toEqual([['domain added', expect.any(String)]]);
  expect(await shown('from=2026-03-02')).toEqual([]);
  expect((await shown('to=2026-03-01')).length).toBe(50);
  expect((await shown('domain=blog&action=nothing&from=yesterday')).length).toBe(50);
  expect((await visitor.get('/o/acme/audit?from=2026-03-02&to=2026-03-01')).html).toContain(
    'The first day is after the last one',
  );
  const [{ requestId } = {}] = (await interfaceSays()).entries;
  expect(await shown(`request=${requestId}`)).toHaveLength(1);
  expect((await visitor.get('/o/acme/audit?actor=nobody')).html).toContain('No entry matches');
});

test('names keys by their names, as text, and people by theirs', async () => {
  const { html } = await visitor.get('/o/acme/audit');
  expect(html).toContain('>first key</a>');
  expect((await visitor.get('/o/acme/audit?action=key.created&to=2026-03-01')).html).not.toContain('<script>');
  const ada = await site.signedIn(operatorToken);
  await ada.send('/o/acme/keys', { name: 'by a person', kind: 'assistant', scopes: 'read', expiresInDays: '' });
  await gateway.bus.projected();
  const shown = await visitor.get('/o/acme/audit?action=key.created');
  const [{ actor } = { actor: { id: '' } }] = (await interfaceSays('?action=key.created')).entries;
  expect(shown.html).toContain(`actor=${encodeURIComponent(actor.id)}`);
  expect(shown.html).toContain('<span class="quiet">person</span>');
});

test('is exported whole as NDJSON and as CSV, with the filters of the page', async () => {
  const { entries } = await interfaceSays('?action=key.created&limit=500');
  const lines = await visitor.get('/o/acme/audit/export?as=ndjson&action=key.created');
  expect(lines.headers.get('content-disposition')).toBe('attachment; filename="audit-acme-2026-03-01.ndjson"');
  expect(
    lines.html
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual(entries);
  const csv = await visitor.get('/o/acme/audit/export?as=csv&action=key.created');
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  const rows = csv.html.trim().split('\r\n');
  expect(rows).toHaveLength(entries.length + 1);
  expect(csv.html).toContain(",'=1+1,");
  expect(csv.html).not.toMatch(/(^|,)"?[=+@]/m);
  const { html } = await visitor.get('/o/acme/audit?action=key.created');
  expect(html).toContain(escapeHtml('/o/acme/audit/export?action=key.created&as=csv'));
});

test('each entry has a page of its own, with all that is recorded and its proof', async () => {
  const { html } = await visitor.get('/o/acme/audit?action=key.created');
  const [newest] = (await interfaceSays('?action=key.created')).entries;
  const [, link = ''] = /<a href="(\/o\/acme\/audit\/entries\/[^"]+)"/.exec(html) ?? [];
  const entry = await visitor.get(link);
  expect(entry.status).toBe(200);
  for (const fact of [newest?.id, newest?.commit.id, newest?.commit.subject, newest?.keyId, newest?.requestId])
    expect(entry.html).toContain(`<code>${fact}</code>`);
  expect(entry.html).toContain(`datetime="${newest?.time}"`);
  expect((await visitor.get(`${link}0`)).status).toBe(404);
  expect((await visitor.get('/o/acme/audit/entries/yesterday/x')).status).toBe(404);
  // Many entries of one moment are found, too.
  const oldest = (await interfaceSays('?action=key.created&limit=500')).entries.at(-1);
  const address = `/o/acme/audit/entries/${encodeURIComponent(oldest?.time ?? '')}/${encodeURIComponent(oldest?.id ?? '')}`;
  expect((await visitor.get(address)).html).toContain(`<code>${oldest?.commit.id}</code>`);
});
