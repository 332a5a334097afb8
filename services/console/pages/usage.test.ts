import { afterAll, beforeAll, expect, test } from 'vitest';
import { limitListSchema, usageSchema } from '#shared/interfaces/http/audit.ts';
import { searchesSchema, viewsSchema } from '#shared/interfaces/http/site-views.ts';
import { type ConsoleHarness, consoleHarness } from '../../../test/support/console-harness.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  type TestOrganization,
} from '../../../test/support/gateway-harness.ts';
import { accessRecord, contentCommit, siteViewsRecord } from '../../../test/support/make-commit.ts';
import { threadWriter } from '../../../test/support/make-thread.ts';
import { daysOf, monthsBefore } from './usage.ts';

let gateway: GatewayHarness;
let acme: TestOrganization;
let site: ConsoleHarness;
let visitor: Awaited<ReturnType<ConsoleHarness['signedIn']>>;

beforeAll(async () => {
  gateway = await gatewayHarness({ BINDERY_LIMIT_TOKENS_PER_DAY: '5000' });
  acme = await createOrganization(gateway);
  site = await consoleHarness(gateway);
  const { bus } = gateway;
  const threads = threadWriter(bus.threads, acme.id);
  await threads.answered(`th_${'1'.repeat(22)}`, '2026-03-01T09:00:00.000Z', { messageId: 'm1', tokens: 1_234 });
  await threads.answered(`th_${'2'.repeat(22)}`, '2026-02-10T09:00:00.000Z', { messageId: 'm2', tokens: 7 });
  await bus.access.record(accessRecord({ organization: acme.id }));
  const data = { organization: acme.id, domain: 'docs', contentVersion: `cv_${'1'.repeat(32)}` };
  await bus.content.append(
    contentCommit({
      type: 'ContentPublished',
      version: 1,
      data: { ...data, pageCount: 3, fileCount: 4, sizeBytes: 500 },
    }),
    { sequence: 0 },
  );
  const script: [string, number, number] = ['<script>alert(1)</script>', 1, 1];
  const record = siteViewsRecord();
  await bus.views.record({
    ...record,
    organization: acme.id,
    days: record.days.map((day) => ({ ...day, queries: [script] })),
  });
  await bus.projected();
  gateway.clock.time = new Date('2026-03-05T10:00:00.000Z');
  visitor = await site.signedIn(acme.adminKey);
});
afterAll(async () => {
  await site.close();
  await gateway.close();
});

const get = async (url: string) => (await gateway.app.inject({ url, headers: bearer(acme.adminKey) })).json();
/** The rows of the table with a caption: each has the texts of its cells. */
const tableOf = (html: string, caption: string): string[][] => {
  const [, body = ''] = html.split(`<caption class="unseen">${caption}</caption>`);
  return [...(body.split('</table>')[0] ?? '').matchAll(/<tr>(<th scope="row">.*?)<\/tr>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => cell.replaceAll(/<[^>]*>/g, '')),
  );
};

test('days of a month are those of the interface, up to today', async () => {
  const { html } = await visitor.get('/o/acme/usage');
  const { months } = usageSchema.parse(await get('/v1/usage?month=2026-03'));
  for (const [figure, title] of [
    ['questions', 'Questions'],
    ['tokens', 'Model tokens'],
    ['publications', 'Publications'],
    ['linksSigned', 'Signed links'],
    ['exportsStarted', 'Exports'],
  ] as const) {
    const known = new Map(months[0]?.days.map(({ day, figures }) => [day, figures[figure] ?? 0]));
    expect(tableOf(html, `${title} by day`)).toEqual(
      daysOf('2026-03', '2026-03-05').map((day) => [day, (known.get(day) ?? 0).toLocaleString('en')]),
    );
    expect(html).toContain(
      `<figcaption>${title} by day <strong>${(months[0]?.total[figure] ?? 0).toLocaleString('en')}</strong>`,
    );
  }
  expect(tableOf(html, 'Model tokens by day')[0]).toEqual(['2026-03-01', '1,234']);
});

test('months are those of the interface, and a figure that is no longer known is not zero', async () => {
  const { html } = await visitor.get('/o/acme/usage?by=month');
  const { months } = usageSchema.parse(await get('/v1/usage?months=2025-04..2026-03'));
  expect(tableOf(html, 'Questions by month')).toEqual(
    months.map(({ month, total }) => [month, total.questions === undefined ? 'not known' : String(total.questions)]),
  );
  expect(tableOf(html, 'Questions by month')[0]).toEqual(['2025-04', 'not known']);
});

test('limits are those of the plan, with what is left and the busiest day', async () => {
  const { html } = await visitor.get('/o/acme/usage');
  const { limits } = limitListSchema.parse(await get('/v1/limits'));
  const rows = tableOf(html, 'Limits of the plan');
  expect(rows).toHaveLength(limits.length);
  expect(rows).toContainEqual(['Model tokens', '5,000', 'day', '5,000', '1,234 on 2026-03-01']);
  expect(rows).toContainEqual(['Started exports', '60', 'hour', '60', '']);
});

test('page views and searches are those of the interface, and words of readers are text', async () => {
  const { html } = await visitor.get('/o/acme/usage?month=2026-03&domain=docs');
  const views = viewsSchema.parse(await get('/v1/domains/docs/views?from=2026-03-01&to=2026-03-05&by=path'));
  const searches = searchesSchema.parse(await get('/v1/domains/docs/searches?from=2026-03-01&to=2026-03-05'));
  expect([views.total, searches.total]).toEqual([2, 1]);
  expect(tableOf(html, 'Page views by day')[0]).toEqual(['2026-03-01', '2']);
  expect(tableOf(html, 'Pages with the most views')).toEqual(
    views.entries.map(({ name, views: each }) => [name, String(each)]),
  );
  expect(tableOf(html, 'Most frequent searches')).toEqual([['&lt;script&gt;alert(1)&lt;/script&gt;', '1', '1']]);
  expect((await visitor.get('/o/acme/usage?month=2026-02')).html).toContain('No page view was counted in this month');
});

test('a wrong address shows this month', async () => {
  const { status, html } = await visitor.get('/o/acme/usage?by=year&month=2031-13&domain=nothing');
  expect([status, tableOf(html, 'Questions by day').length]).toEqual([200, 5]);
});

test('months before a month go back over the turn of the year', () => {
  expect(monthsBefore('2026-02', 4)).toEqual(['2026-02', '2026-01', '2025-12', '2025-11']);
  expect(daysOf('2024-02', '2026-01-01')).toHaveLength(29);
});
