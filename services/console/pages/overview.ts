import { html } from '#shared/docs/render/html.ts';
import { exportListSchema } from '#shared/interfaces/http/exports.ts';
import { whoamiSchema } from '#shared/interfaces/http/directory.ts';
import { page } from '../page.ts';
import { exportLink } from './exports.ts';
import { domainFacts, domainTable } from './domains/domain-list.ts';
import { command, empty, pageHead, plural, state, table, time, toneOf } from '../pieces/pieces.ts';

/** Each domain costs three questions to the platform. */
const domainsShown = 10;

/** The organization at a glance: its domains with their sites, and its newest exports. */
export const overviewPage = page({ path: '/' }, async (visit) => {
  const { ask, base, now } = visit;
  const [{ organization, domains }, { jobs }] = await Promise.all([
    ask({ path: '/v1/whoami' }, whoamiSchema),
    ask({ path: '/v1/static-export/jobs', query: { limit: 5 } }, exportListSchema),
  ]);
  const content = html`${pageHead(organization.name, `Plan ${organization.plan}`)}
<section aria-labelledby="domains"><h2 id="domains">Domains</h2>
${
  domains.length === 0
    ? empty(
        'There is no domain yet',
        html`An operator adds one.${command(`npm run bindery -- orgs add-domain ${organization.id} docs`)}`,
      )
    : html`${domainTable(visit, await domainFacts(visit, domains.slice(0, domainsShown)))}${domains.length > domainsShown ? html`<p><a href="${base}/domains">All ${plural(domains.length, 'domain')}</a></p>` : ''}`
}</section>
<section aria-labelledby="exports"><h2 id="exports">Newest exports</h2>
${
  jobs.length === 0
    ? empty('Nothing was exported yet', command('npm run bindery -- export docs --wait --out site.tar.gz'))
    : table(
        'Newest exports',
        [
          { title: 'Export', cell: (job) => exportLink(base, job) },
          { title: 'Domain', cell: ({ domain }) => domain },
          { title: 'State', cell: ({ status }) => state(toneOf(status), status) },
          { title: 'Started', cell: ({ createdAt }) => time(createdAt, now) },
        ],
        jobs,
      )
}</section>`;
  return { title: 'Overview', content };
});
