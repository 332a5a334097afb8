import { z } from 'zod';
import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import { organizationPlans } from '#shared/contracts/identifiers.ts';
import { organizationCreatedSchema, organizationListSchema } from '#shared/interfaces/http/directory.ts';
import { form, page, type Visit } from '../page.ts';
import {
  choiceField,
  command,
  count,
  empty,
  further,
  pageHead,
  refusalOf,
  table,
  textField,
  time,
  withQuery,
} from '../pieces/pieces.ts';
import { secretView } from './keys.ts';

const query = z.object({ cursor: z.string().max(200).optional().catch(undefined) });

/** All organizations of the installation, for operators. */
const organizationsPage = page({ path: '/organizations', of: 'installation', query }, async (visit) => {
  const {
    ask,
    query: { cursor },
    address,
    now,
  } = visit;
  const { organizations, nextCursor } = await ask(
    { path: '/v1/organizations', query: { limit: 50, cursor } },
    organizationListSchema,
  );
  const content = html`${pageHead('Organizations', 'Each has its own domains, API keys and limits.')}
${
  organizations.length === 0
    ? empty('There is no organization yet', command('npm run bindery -- orgs create "Acme" --plan enterprise'))
    : table(
        'Organizations',
        [
          { title: 'Organization', cell: ({ id, name }) => html`<a href="/o/${id}">${name}</a>` },
          { title: 'Id', cell: ({ id }) => html`<code>${id}</code>` },
          { title: 'Plan', cell: ({ plan }) => plan },
          { title: 'Domains', isNumber: true, cell: ({ domains }) => count(domains.length) },
          { title: 'API keys', isNumber: true, cell: ({ apiKeys }) => count(apiKeys) },
          { title: 'Created', cell: ({ createdAt }) => time(createdAt, now) },
          {
            title: 'Settings',
            cell: ({ id, name }) => html`<a href="/organizations/${id}" aria-label="Settings of ${name}">Settings</a>`,
          },
        ],
        organizations,
      )
}${further(nextCursor && withQuery(address, { cursor: nextCursor }), cursor && withQuery(address, { cursor: undefined }), 'More')}
${newOrganizationForm(visit)}`;
  return { title: 'Organizations', content };
});

const newOrganizationForm = (
  visit: Visit<unknown, unknown>,
): SafeHtml => html`<section aria-labelledby="new-organization"><h2 id="new-organization">New organization</h2>
${refusalOf(visit)}
<form method="post" action="/organizations" class="form">${visit.token}
${textField('name', { label: 'Name', about: 'Its id is made from the name and does not change. The first admin key is shown once.', placeholder: 'Acme', required: true }, visit.refused)}
${choiceField(
  'plan',
  {
    label: 'Plan',
    about: 'Static export needs the plan "enterprise".',
    choices: organizationPlans.map((each) => [each, each] as const),
    value: 'enterprise',
  },
  visit.refused,
)}
<button class="button primary">Create organization</button>
</form></section>`;

const createOrganization = form(
  {
    of: 'installation',
    path: '/organizations',
    fields: z.object({ name: z.string().trim(), plan: z.enum(organizationPlans) }),
    page: organizationsPage,
  },
  async ({ ask, now }, body) => {
    const { organization, adminKey, platformUrl } = await ask(
      { method: 'POST', path: '/v1/organizations', body },
      organizationCreatedSchema,
    );
    const { title, content } = secretView(
      { base: `/o/${organization.id}`, organization: organization.id, now },
      { ...adminKey, name: '' },
      `${organization.name} is created`,
      { platformUrl, domains: [] },
    );
    return {
      title,
      content: html`${content}<p><a href="/organizations/${organization.id}">Add a domain to ${organization.name}</a></p>`,
    };
  },
);

export const organizationListRoutes = [organizationsPage, createOrganization];
