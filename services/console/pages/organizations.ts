import { z } from 'zod';
import { html } from '#shared/docs/render/html.ts';
import { organizationListSchema } from '#shared/interfaces/http/directory.ts';
import { page } from '../page.ts';
import { command, count, empty, further, pageHead, table, time, withQuery } from '../pieces/pieces.ts';

const query = z.object({ cursor: z.string().max(200).optional().catch(undefined) });

/** All organizations of the installation, for operators. */
export const organizationsPage = page(
  { path: '/organizations', of: 'installation', query },
  async ({ ask, query: { cursor }, address, now }) => {
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
}${further(nextCursor && withQuery(address, { cursor: nextCursor }), cursor && withQuery(address, { cursor: undefined }), 'More')}`;
    return { title: 'Organizations', content };
  },
);
