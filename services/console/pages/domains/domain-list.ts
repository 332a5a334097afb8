import { z } from 'zod';
import { html } from '#shared/docs/render/html.ts';
import { domainListSchema, type ListedDomain } from '#shared/interfaces/http/domain-list.ts';
import { page, type Visit } from '../../page.ts';
import { command, count, empty, further, pageHead, table, time, withQuery } from '../../pieces/pieces.ts';
import { deploymentState, outside, siteState } from './domain-parts.ts';

const domainsAtOnce = 50;

/** Domains with their site, last deployment and contents. */
export const domainTable = (
  { base, now }: Pick<Visit<unknown, unknown>, 'base' | 'now'>,
  domains: readonly ListedDomain[],
) =>
  table(
    'Domains',
    [
      { title: 'Domain', cell: ({ domain }) => html`<a href="${base}/domains/${domain}">${domain}</a>` },
      { title: 'Site', cell: ({ site }) => siteState(site) },
      {
        title: 'Address',
        cell: ({ site }) => (site === undefined ? html`<span class="quiet">none</span>` : outside(site.address)),
      },
      {
        title: 'Last deployment',
        cell: ({ site }) => {
          if (site?.last === undefined) return html`<span class="quiet">none</span>`;
          const { label, requestedAt } = site.last;
          return html`${deploymentState(site.last)} ${label === undefined ? '' : html`<span class="quiet">${label}</span> `}<span class="quiet">${time(requestedAt, now)}</span>`;
        },
      },
      { title: 'Contents', isNumber: true, cell: ({ contents }) => count(contents) },
    ],
    domains,
  );

const query = z.object({ cursor: z.string().max(200).optional().catch(undefined) });

/** All domains of the organization. */
export const domainsPage = page({ path: '/domains', query }, async (visit) => {
  const {
    ask,
    address,
    organization,
    query: { cursor },
  } = visit;
  const { domains, nextCursor } = await ask(
    { path: '/v1/domains', query: { limit: domainsAtOnce, cursor } },
    domainListSchema,
  );
  const content = html`${pageHead('Domains', 'Each is one documentation with its contents and its site.')}
${
  domains.length === 0
    ? empty(
        'There is no domain here',
        html`An operator adds one.${command(`npm run bindery -- orgs add-domain ${organization} docs`)}`,
      )
    : domainTable(visit, domains)
}${further(nextCursor && withQuery(address, { cursor: nextCursor }), cursor && withQuery(address, { cursor: undefined }), 'More')}`;
  return { title: 'Domains', content };
});
