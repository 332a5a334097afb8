import { z } from 'zod';
import { html } from '#shared/docs/render/html.ts';
import { whoamiSchema } from '#shared/interfaces/http/directory.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { page, type Visit } from '../../page.ts';
import { command, count, empty, further, pageHead, table, time, withQuery } from '../../pieces/pieces.ts';
import { contentsOf, deploymentState, outside, siteOf, siteState } from './domain-parts.ts';

/** Each domain costs three questions to the platform. */
const domainsAtOnce = 20;
const askedAtOnce = 8;

type Domain = { domain: string; hosts: readonly string[] };

/** Domains with their site, last deployment and contents. */
export const domainFacts = (visit: Pick<Visit<unknown, unknown>, 'ask'>, domains: readonly Domain[]) =>
  inParallel(domains, askedAtOnce, async ({ domain, hosts }) => {
    const [open, contents] = await Promise.all([siteOf(visit, domain), contentsOf(visit, domain)]);
    return { domain, hosts, open, contents };
  });

export const domainTable = (
  { base, now }: Pick<Visit<unknown, unknown>, 'base' | 'now'>,
  facts: Awaited<ReturnType<typeof domainFacts>>,
) =>
  table(
    'Domains',
    [
      { title: 'Domain', cell: ({ domain }) => html`<a href="${base}/domains/${domain}">${domain}</a>` },
      { title: 'Site', cell: ({ open }) => siteState(open) },
      {
        title: 'Address',
        cell: ({ open }) => (open === undefined ? html`<span class="quiet">none</span>` : outside(open.site.address)),
      },
      {
        title: 'Last deployment',
        cell: ({ open }) => {
          const last = open?.deployments[0];
          if (last === undefined) return html`<span class="quiet">none</span>`;
          const { label, requestedAt } = last;
          return html`${deploymentState(last)} ${label === undefined ? '' : html`<span class="quiet">${label}</span> `}<span class="quiet">${time(requestedAt, now)}</span>`;
        },
      },
      { title: 'Contents', isNumber: true, cell: ({ contents }) => count(contents.versions.length) },
    ],
    facts,
  );

const query = z.object({ after: z.string().max(63).optional().catch(undefined) });

/** All domains of the organization. */
export const domainsPage = page({ path: '/domains', query }, async (visit) => {
  const {
    address,
    query: { after },
  } = visit;
  const { organization, domains } = await visit.ask({ path: '/v1/whoami' }, whoamiSchema);
  const sorted = domains.toSorted((one, other) => (one.domain < other.domain ? -1 : 1));
  const rest = after === undefined ? sorted : sorted.filter(({ domain }) => domain > after);
  const shown = rest.slice(0, domainsAtOnce);
  const next = rest.length > shown.length ? shown.at(-1)?.domain : undefined;
  const content = html`${pageHead('Domains', 'Each is one documentation with its contents and its site.')}
${
  shown.length === 0
    ? empty(
        'There is no domain here',
        html`An operator adds one.${command(`npm run bindery -- orgs add-domain ${organization.id} docs`)}`,
      )
    : domainTable(visit, await domainFacts(visit, shown))
}${further(next && withQuery(address, { after: next }), after && withQuery(address, { after: undefined }))}`;
  return { title: 'Domains', content };
});
