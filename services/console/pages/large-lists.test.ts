import { afterAll, beforeAll, expect, test } from 'vitest';
import { large, small, writeHistory } from '../../../test/bench/console-history.ts';
import { type ConsoleHarness, consoleHarness } from '../../../test/support/console-harness.ts';
import { type GatewayHarness, gatewayHarness, operatorToken } from '../../../test/support/gateway-harness.ts';

const sizes = {
  ...{ jobs: 130, keys: 300, deployments: 60, conversations: 40, links: 60 },
  ...{ domains: 120, contents: 45, organizations: 60 },
};

let gateway: GatewayHarness;
let site: ConsoleHarness;
let visitor: Awaited<ReturnType<ConsoleHarness['signedIn']>>;
/** Paths that the console asked the gateway for, except for the caller, whom it keeps for a moment. */
let asked: string[] = [];

beforeAll(async () => {
  gateway = await gatewayHarness();
  await writeHistory(gateway.bus, sizes, gateway.clock.time);
  await gateway.bus.projected();
  site = await consoleHarness(gateway);
  gateway.app.server.on('request', ({ url = '' }) => {
    if (url !== '/v1/whoami') asked.push(url);
  });
  visitor = await site.signedIn(operatorToken);
});
afterAll(async () => {
  await site.close();
  await gateway.close();
});

const base = `/o/${large.organization}`;

/** The heads of the rows of a table, by its caption. */
const rowsOf = (html: string, caption: string): string[] => {
  const [, body = ''] = html.split(`<caption class="unseen">${caption}</caption>`);
  return [...(body.split('</tbody>')[0] ?? '').matchAll(/<tr[^>]*>(<th scope="row">.*?<\/tr>)/gs)].map(
    ([, row = '']) => row,
  );
};

/** The rows of each page of a list, by its links to the next page. */
async function pagesOf(path: string, caption: string): Promise<string[][]> {
  const pages: string[][] = [];
  for (let at: string | undefined = path; at !== undefined; ) {
    const { status, html } = await visitor.get(at);
    expect([at, status]).toEqual([at, 200]);
    pages.push(rowsOf(html, caption));
    const [, after = ''] = html.split(`<caption class="unseen">${caption}</caption>`);
    at = /<a class="button" href="([^"]+)" rel="next">/.exec(after)?.[1]?.replaceAll('&amp;', '&');
  }
  return pages;
}

test.each([
  ['/organizations', 'Organizations', sizes.organizations + 2, 50],
  [`${base}/domains`, 'Domains', sizes.domains, 50],
  [`${base}/exports`, 'Exports', sizes.jobs, 50],
  [`${base}/exports?state=failed`, 'Exports', sizes.jobs / 10, 50],
  [`${base}/keys`, 'API keys', sizes.keys, 100],
  [`${base}/audit?action=key.created`, 'Audit entries', sizes.keys, 50],
  [`${base}/audit?action=link`, 'Audit entries', sizes.links, 50],
  [`${base}/domains/${large.domain}`, 'Contents', sizes.contents, 20],
])(
  '%s has at most its number of rows on a page, and its cursors reach each row once',
  async (path, caption, total, most) => {
    const pages = await pagesOf(path, caption);
    const rows = pages.flat();
    expect([rows.length, new Set(rows).size]).toEqual([total, total]);
    for (const [at, page] of pages.entries())
      if (at < pages.length - 1) expect(page).toHaveLength(most);
      else expect(page.length).toBeLessThanOrEqual(most);
  },
);

test.each([
  ['', 5],
  ['/domains', 1],
  [`/domains/${large.domain}`, 5],
  ['/exports', 1],
  ['/exports?state=failed', 1],
  ['/keys', 1],
  ['/audit', 2],
  ['/audit?action=key', 2],
  ['/usage', 3],
  ['/usage?by=month', 2],
  ['/assistant', 1],
  [`/assistant/${large.domain}`, 2],
])('the page %s asks the platform as often for a large organization as for a new one', async (path, requests) => {
  for (const organization of [large.organization, small.organization]) {
    asked = [];
    const { status } = await visitor.get(`/o/${organization}${path}`);
    expect([status, asked.length, asked]).toEqual([200, requests, expect.anything()]);
  }
});

test('the overview has the questions of the week and the use of the month, as the interface says', async () => {
  const ask = async (path: string) => {
    const person = await gateway.app.inject({ url: path, headers: { authorization: `Bearer ${await keyOf()}` } });
    return person.json();
  };
  const { questions } = await ask('/v1/questions?days=7');
  const { html } = await visitor.get(base);
  const share = Math.round((questions.answered / questions.total) * 100);
  expect(questions.total).toBeGreaterThan(0);
  expect(html).toContain(`<dt>Questions</dt><dd>${questions.total}</dd>`);
  expect(html).toContain(`<dt>Answered</dt><dd>${share} %</dd>`);
  const { months } = await ask('/v1/usage');
  expect(rowsOf(html, 'Use of the month beside the limits').join('\n')).toContain(
    `<th scope="row">Exports</th><td class="number">${months[0].total.exportsStarted}</td>`,
  );
  for (const path of ['/usage', '/assistant', '/domains']) expect(html).toContain(`href="${base}${path}"`);
});

/** A new admin key of the large organization. */
async function keyOf(): Promise<string> {
  const made = await gateway.app.inject({
    method: 'POST',
    url: `/v1/organizations/${large.organization}/api-keys`,
    headers: { authorization: `Bearer ${operatorToken}` },
    payload: {},
  });
  return made.json().key;
}
