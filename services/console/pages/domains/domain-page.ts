import { z } from 'zod';
import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import type { ContentList } from '#shared/interfaces/http/content.ts';
import { deploymentViewSchema, type DeploymentView } from '#shared/interfaces/http/sites.ts';
import { hasRole } from '#shared/interfaces/http/person-token.ts';
import { form, page, stream, type Visit } from '../../page.ts';
import {
  command,
  count,
  duration,
  empty,
  formButton,
  further,
  pageHead,
  plural,
  refusalOf,
  state,
  table,
  time,
  withQuery,
} from '../../pieces/pieces.ts';
import { liveConnection, livePart, sendLive } from '../../pieces/live.ts';
import { answerOrProblem } from '../../pieces/part.ts';
import {
  type Causes,
  causesOf,
  contentLink,
  contentsOf,
  deploymentState,
  domainParams,
  isDeploying,
  newestOf,
  type OpenSite,
  outside,
  siteOf,
  siteState,
  sourceOf,
} from './domain-parts.ts';

const rowsAtOnce = 20;
const offset = z.coerce.number().int().min(0).max(1_000_000).default(0).catch(0);
const query = z.object({ deployments: offset, contents: offset });

type DomainVisit = Visit<{ domain: string }, z.output<typeof query>>;

/** A domain: its site, previews, deployments and contents. The part `#live` is replaced when a deployment changes. */
export const domainPage = page({ path: '/domains/:domain', params: domainParams, query }, async (visit) => {
  const {
    base,
    role,
    params: { domain },
  } = visit;
  const [contents, site, causes] = await Promise.all([
    answerOrProblem(contentsOf(visit, domain)),
    answerOrProblem(siteOf(visit, domain)),
    answerOrProblem(causesOf(visit, domain)),
  ]);
  const open = site.answer;
  // Without an answer it is not known whether there is a site.
  const isKnown = site.problem.text === '';
  const about = !isKnown
    ? ''
    : open === undefined
      ? 'It has no site yet.'
      : html`Its site is at ${outside(open.site.address)}`;
  const path = `${base}/domains/${domain}`;
  const mayEdit = hasRole(role, 'editor');
  const action = mayEdit
    ? html`${isKnown && open === undefined ? html`<a class="button" href="${path}/site">Open a site</a>` : html`<a class="button" href="${path}/site">Site settings</a>`}<a class="button primary" href="${path}/export">Export now</a>`
    : html`<a class="button" href="${path}/site">Site settings</a>`;
  const content = html`${pageHead(domain, about, action)}
${refusalOf(visit)}
${isKnown ? siteParts(visit, open, causes.answer) : html`<div id="live"><section aria-labelledby="site"><h2 id="site">Site</h2>${site.problem}</section></div>`}
${causes.answer === undefined ? html`<p class="about" role="status">Who deployed and published is not known now.</p>` : ''}
${liveConnection(withRows(`${path}/live`, visit.query))}
${contents.answer === undefined ? html`<section aria-labelledby="contents"><h2 id="contents">Contents</h2>${contents.problem}</section>` : contentsSection(visit, contents.answer, causes.answer)}`;
  return { title: domain, content };
});

/** The parts of the page that a deployment changes. */
const siteParts = (visit: DomainVisit, open: OpenSite | undefined, causes: Causes | undefined): SafeHtml =>
  html`<div id="live">${siteSection(visit, open)}${open === undefined ? '' : html`${deploymentsSection(visit, open, causes)}${previewsSection(visit, open)}`}</div>`;

function siteSection({ base, role, now, params: { domain } }: DomainVisit, open: OpenSite | undefined): SafeHtml {
  if (open === undefined)
    return html`<section aria-labelledby="site"><h2 id="site">Site</h2>${empty(
      'This domain has no site',
      html`A site shows the latest content at an address, and each labelled content as a preview.${
        hasRole(role, 'editor')
          ? html`<p><a class="button" href="${base}/domains/${domain}/site">Open a site</a></p>`
          : ''
      }${command(`npm run bindery -- site open ${domain}`)}`,
    )}</section>`;
  const { site } = open;
  const { live, login, hosts } = site;
  const readers =
    login === undefined
      ? 'everybody'
      : `${login.kind === 'password' ? plural(login.users.length, 'reader with a password', 'readers with a password') : 'accounts of the provider'}${login.protects === 'previews' ? ', for previews; the live site is for everybody' : ''}`;
  return html`<section aria-labelledby="site"><h2 id="site">Site</h2>
<dl class="facts">
<dt>State</dt><dd>${siteState({ live, newest: newestOf(open) })}</dd>
<dt>Address</dt><dd>${outside(site.address)}${hosts.length > 1 ? html` <span class="quiet">also ${hosts.slice(1).join(', ')}</span>` : ''}</dd>
<dt>Readers see</dt><dd>${live === undefined ? html`<span class="quiet">nothing yet</span>` : html`deployment ${live.id} of ${contentLink(base, domain, live.contentVersion)}, ${live.endedAt === undefined ? '' : time(live.endedAt, now)}`}</dd>
<dt>May read</dt><dd>${readers}</dd>
<dt>Search and answers</dt><dd>${site.assistantKey === undefined ? (site.assistant ? 'through the site' : 'search in the site, no assistant') : 'by the key of the pages'}</dd>
<dt>Counted</dt><dd>${site.counts ? 'page views and searches' : 'nothing'}</dd>
</dl></section>`;
}

function previewsSection({ base, role, now, params: { domain } }: DomainVisit, open: OpenSite): SafeHtml {
  const previews = open.deployments.filter(({ label, address }) => label !== undefined && address !== undefined);
  const path = `${base}/domains/${domain}`;
  return html`<section aria-labelledby="previews"><h2 id="previews">Previews</h2>${
    previews.length === 0
      ? empty(
          open.site.previews ? 'There is no preview' : 'Previews are off',
          open.site.previews
            ? html`Content that is published with a label gets one.${command(`npm run bindery -- publish . --domain ${domain} --label next --preview`)}`
            : html`<a href="${path}/site">The settings of the site</a> turn them on.`,
        )
      : table(
          'Previews',
          [
            { title: 'Label', cell: ({ label = '' }) => html`<strong>${label}</strong>` },
            { title: 'Address', cell: ({ address = '' }) => outside(address) },
            { title: 'Content', cell: ({ contentVersion }) => contentLink(base, domain, contentVersion) },
            { title: 'Since', cell: ({ endedAt, requestedAt }) => time(endedAt ?? requestedAt, now) },
            ...(hasRole(role, 'editor')
              ? [
                  {
                    title: 'Action',
                    cell: ({ contentVersion, label = '' }: DeploymentView) =>
                      html`<a href="${path}/content/${contentVersion}#label-${label}">End</a>`,
                  },
                ]
              : []),
          ],
          previews,
        )
  }</section>`;
}

const causeWords: Readonly<Record<DeploymentView['cause'], string>> = {
  ...{ opened: 'site opened', published: 'published', labelled: 'labelled', repeated: 'deployed again' },
  'rolled-back': 'rolled back',
};

function deploymentsSection(visit: DomainVisit, open: OpenSite, causes: Causes | undefined): SafeHtml {
  const { base, role, now, query, params } = visit;
  const path = `${base}/domains/${params.domain}`;
  const { deployments } = open;
  const rows = deployments.slice(query.deployments, query.deployments + rowsAtOnce);
  const mayEdit = hasRole(role, 'editor');
  const again = mayEdit && deployments.length > 0 && !isDeploying(open);
  return html`<section aria-labelledby="deployments"><div class="section-head"><h2 id="deployments">Deployments</h2>${again ? formButton(visit, `${path}/deployments`, 'Deploy again') : ''}</div>${
    rows.length === 0
      ? empty('Nothing was deployed yet', command(`npm run bindery -- publish . --domain ${params.domain}`))
      : table<DeploymentView>(
          'Deployments',
          [
            { title: 'Deployment', cell: ({ id }) => String(id) },
            { title: 'State', cell: stateCell },
            ...(deployments.some(({ label }) => label !== undefined)
              ? [{ title: 'Shown at', cell: ({ label }: DeploymentView) => label ?? 'live site' }]
              : []),
            { title: 'Content', cell: ({ contentVersion }) => contentLink(base, params.domain, contentVersion) },
            ...(rows.some(({ source }) => source !== undefined)
              ? [
                  {
                    title: 'From',
                    cell: ({ source }: DeploymentView) => (source === undefined ? '' : sourceOf(source)),
                  },
                ]
              : []),
            { title: 'Because', cell: ({ cause }) => causeWords[cause] },
            { title: 'Who', cell: (each) => causes?.ofDeployment(each) ?? unknownCause(causes) },
            { title: 'When', cell: ({ requestedAt }) => time(requestedAt, now) },
            {
              title: 'Took',
              isNumber: true,
              cell: ({ durationMs, cause }) =>
                durationMs === undefined || cause === 'rolled-back' ? '' : duration(durationMs),
            },
            { title: 'Findings', cell: ({ findings, contentVersion }) => findingsCell(path, findings, contentVersion) },
            ...(mayEdit
              ? [
                  {
                    title: 'Change',
                    cell: ({ id, canRollBack }: DeploymentView) =>
                      canRollBack
                        ? formButton(visit, `${path}/rollback`, 'Roll back', {
                            fields: { deployment: String(id) },
                            confirm: `Show readers deployment ${id} again?`,
                          })
                        : '',
                  },
                ]
              : []),
          ],
          rows,
          ({ id }) => `deployment-${id}`,
        )
  }${pagesOf(visit, 'deployments', deployments.length)}</section>`;
}

const unknownCause = (causes: Causes | undefined): SafeHtml =>
  html`<span class="quiet">${causes === undefined ? 'not known now' : 'unknown'}</span>`;

const stateCell = (deployment: DeploymentView): SafeHtml =>
  html`${deploymentState(deployment)}${deployment.error === undefined ? '' : html`<p class="reason">${deployment.error}</p>`}`;

function findingsCell(path: string, findings: DeploymentView['findings'], contentVersion: string): SafeHtml {
  if (findings === undefined) return html``;
  const { errors, warnings } = findings;
  if (errors + warnings === 0) return html`<span class="quiet">none</span>`;
  const words = [errors > 0 && plural(errors, 'error'), warnings > 0 && plural(warnings, 'warning')];
  return html`<a href="${path}/content/${contentVersion}/findings">${words.filter((each) => each !== false).join(', ')}</a>`;
}

function contentsSection(visit: DomainVisit, contents: ContentList, causes: Causes | undefined): SafeHtml {
  const { base, now, query, params } = visit;
  const rows = contents.versions.slice(query.contents, query.contents + rowsAtOnce);
  return html`<section aria-labelledby="contents"><h2 id="contents">Contents</h2>${
    rows.length === 0
      ? empty('Nothing was published yet', command(`npm run bindery -- publish . --domain ${params.domain}`))
      : table<ContentList['versions'][number]>(
          'Contents',
          [
            { title: 'Content', cell: ({ contentVersion }) => contentLink(base, params.domain, contentVersion) },
            { title: 'State', cell: contentState },
            { title: 'Labels', cell: ({ labels }) => labelChips(labels) },
            { title: 'Pages', isNumber: true, cell: ({ pages }) => count(pages) },
            { title: 'Published', cell: ({ publishedAt }) => time(publishedAt, now) },
            {
              title: 'Who',
              cell: ({ contentVersion }) => causes?.ofContent(contentVersion) ?? unknownCause(causes),
            },
            {
              title: 'Compare',
              cell: ({ contentVersion }) => {
                const at = contents.versions.findIndex((each) => each.contentVersion === contentVersion);
                const before = contents.versions[at + 1]?.contentVersion;
                return before === undefined
                  ? ''
                  : html`<a href="${base}/domains/${params.domain}/content/${contentVersion}/changes?from=${before}">with the one before</a>`;
              },
            },
          ],
          rows,
        )
  }${pagesOf(visit, 'contents', contents.versions.length)}</section>`;
}

export const contentState = ({ latest, searched }: Pick<ContentList['versions'][number], 'latest' | 'searched'>) =>
  latest
    ? state('good', searched ? 'latest' : 'latest, being indexed')
    : searched
      ? state('busy', 'still searched')
      : html`<span class="quiet">kept</span>`;

export const labelChips = (labels: readonly string[]): SafeHtml =>
  html`${labels.map((label) => html`<span class="chip">${label}</span> `)}`;

/** An address with the offsets of the lists. */
const withRows = (path: string, query: DomainVisit['query']): string =>
  withQuery(
    path,
    Object.fromEntries(Object.entries(query).map(([list, at]) => [list, at === 0 ? undefined : String(at)])),
  );

/** Links to the other rows of a list whose offset is in the address. */
function pagesOf({ address, query }: DomainVisit, list: keyof DomainVisit['query'], total: number): SafeHtml {
  const next = query[list] + rowsAtOnce;
  return further(
    next < total ? `${withQuery(address, { [list]: String(next) })}#${list}` : undefined,
    query[list] > 0 ? `${withQuery(address, { [list]: undefined })}#${list}` : undefined,
  );
}

/** The live part again whenever a deployment of the domain changes, from the updates that all pages of the organization share. */
export const followDomain = stream(
  { path: '/domains/:domain/live', params: domainParams, query },
  async (visit, reply, request) => {
    const { domain } = visit.params;
    await contentsOf(visit, domain);
    return await sendLive(visit, reply, request, async (event) => {
      const isOther = event.event === 'deployment' ? event.data.domain !== domain : event.event !== 'read-again';
      if (isOther) return undefined;
      const open = await siteOf(visit, domain);
      const isNamed = open?.deployments.every(({ actor }) => actor !== undefined && actor.kind !== 'service') ?? true;
      const causes = await causesOf(visit, domain, { ofContents: !isNamed });
      const address = withRows(`${visit.base}/domains/${domain}`, visit.query);
      return { parts: livePart('live', siteParts({ ...visit, now: visit.current(), address }, open, causes)) };
    });
  },
);

export const deployAgain = form(
  { path: '/domains/:domain/deployments', params: domainParams, fields: z.object({}), page: domainPage },
  async ({ ask, base, params: { domain } }) => {
    const { id } = await ask({ method: 'POST', path: `/v1/domains/${domain}/deployments` }, deploymentViewSchema);
    return { to: `${base}/domains/${domain}`, said: `Deployment ${id} has begun.` };
  },
);

export const rollBack = form(
  {
    path: '/domains/:domain/rollback',
    params: domainParams,
    fields: z.object({ deployment: z.coerce.number().int().min(1) }),
    page: domainPage,
    asks: ({ domain }, { deployment }) => ({
      title: `Roll back ${domain}`,
      sentence: `Readers see deployment ${deployment} again, at once. The next publication is deployed as before.`,
      button: 'Roll back',
    }),
  },
  async ({ ask, base, params: { domain } }, { deployment }) => {
    const path = `/v1/domains/${domain}/deployments/${deployment}/rollback` as const;
    const { id } = await ask({ method: 'POST', path }, deploymentViewSchema);
    return {
      to: `${base}/domains/${domain}`,
      said: `Readers see deployment ${deployment} again, as deployment ${id}. The next publication is deployed as before.`,
    };
  },
);
