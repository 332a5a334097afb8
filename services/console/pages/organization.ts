import { z } from 'zod';
import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import { organizationId, organizationPlans } from '#shared/contracts/identifiers.ts';
import {
  createdApiKeySchema,
  domainAddedSchema,
  type OrganizationDetail,
  organizationDetailSchema,
  organizationSchema,
} from '#shared/interfaces/http/directory.ts';
import { form, page, type Visit } from '../page.ts';
import { unlessSilent } from '../pieces/part.ts';
import {
  choiceField,
  command,
  empty,
  id,
  pageHead,
  plural,
  refusalOf,
  table,
  textField,
  time,
} from '../pieces/pieces.ts';
import { keyState, secretView, stateOf } from './keys.ts';

const params = z.object({ organization: organizationId });
const isAbout = z.object({ about: z.enum(['settings', 'domain', 'key']) });

const mostKeysShown = 50;

type OrganizationVisit = Visit<z.output<typeof params>, unknown>;

/** An organization for operators: its plan, domains and keys, with the changes that only an operator may make. */
const organizationPage = page({ path: '/organizations/:organization', of: 'installation', params }, async (visit) => {
  const { ask, params: of, now } = visit;
  const organization = await ask({ path: `/v1/organizations/${of.organization}` }, organizationDetailSchema);
  const { name, plan, createdAt, domains, apiKeys } = organization;
  const content = html`${pageHead(
    name,
    html`An organization with ${plural(domains.length, 'domain')} and ${plural(apiKeys.length, 'API key')}.`,
    html`<a class="button" href="/o/${organization.id}">Open its pages</a>`,
  )}
<dl class="facts">
<dt>Id</dt><dd>${id(organization.id)}</dd>
<dt>Plan</dt><dd>${plan}</dd>
<dt>Created</dt><dd>${time(createdAt, now)}</dd>
</dl>
<section aria-labelledby="settings"><h2 id="settings">Name and plan</h2>
${settingsForm(visit, organization)}</section>
<section aria-labelledby="domains"><h2 id="domains">Domains</h2>
${domainTable(organization)}
<h3>New domain</h3>
${domainForm(visit)}</section>
<section aria-labelledby="keys"><h2 id="keys">API keys</h2>
${keyTable(visit, organization)}
<h3>New admin key</h3>
${keyForm(visit)}</section>`;
  return { title: name, content };
});

/** The refusal of one form of the page with the fields typed there. The other forms are shown without it. */
const refusedIn = ({ refused }: OrganizationVisit, about: z.output<typeof isAbout>['about']): Pick<Visit, 'refused'> =>
  refused?.fields.about === about ? { refused } : {};

const formOf = (
  visit: OrganizationVisit,
  to: string,
  about: z.output<typeof isAbout>['about'],
  fields: SafeHtml,
): SafeHtml =>
  html`${refusalOf(refusedIn(visit, about))}
<form method="post" action="/organizations/${visit.params.organization}${to}" class="form">${visit.token}<input type="hidden" name="about" value="${about}">
${fields}
</form>`;

function settingsForm(visit: OrganizationVisit, { name, plan }: OrganizationDetail): SafeHtml {
  const { refused } = refusedIn(visit, 'settings');
  return formOf(
    visit,
    '',
    'settings',
    html`${textField('name', { label: 'Name', value: name, required: true }, refused)}
${choiceField(
  'plan',
  {
    label: 'Plan',
    about: 'Static export needs the plan "enterprise".',
    choices: organizationPlans.map((each) => [each, each] as const),
    value: plan,
  },
  refused,
)}
<button class="button">Save</button>`,
  );
}

const domainTable = ({ id: organization, domains }: OrganizationDetail): SafeHtml =>
  domains.length === 0
    ? empty(
        'There is no domain yet',
        html`The form below adds one, as does this command.${command(`npm run bindery -- orgs add-domain ${organization} docs`)}`,
      )
    : table(
        'Domains',
        [
          { title: 'Domain', cell: ({ domain }) => domain },
          {
            title: 'Host names',
            cell: ({ hosts }) => (hosts.length === 0 ? html`<span class="quiet">none</span>` : hosts.join(', ')),
          },
          {
            title: 'Groups of readers',
            cell: ({ groups }) => (groups === 'signed' ? 'signed in a token' : 'claimed by the request'),
          },
        ],
        domains,
      );

function domainForm(visit: OrganizationVisit): SafeHtml {
  const { refused } = refusedIn(visit, 'domain');
  return formOf(
    visit,
    '/domains',
    'domain',
    html`${textField('domain', { label: 'Domain', about: 'Small letters, digits and hyphens. It is also the top folder of bundles, and does not change.', placeholder: 'docs', required: true }, refused)}
${textField('hosts', { label: 'Host names', about: 'Names by which requests may name the domain, separated by spaces. None is needed.', placeholder: 'docs.example.com' }, refused)}
${choiceField(
  'groups',
  {
    label: 'Groups of readers',
    about: 'The keys that verify tokens of readers are given with the command or the interface.',
    choices: [
      ['claimed', 'Claimed by the request'],
      ['signed', 'Signed in a token'],
    ],
  },
  refused,
)}
<button class="button">Add domain</button>`,
  );
}

/** The newest valid keys. All keys have a page of their own. */
function keyTable({ now }: OrganizationVisit, { id: organization, apiKeys }: OrganizationDetail): SafeHtml {
  const valid = apiKeys.filter((key) => stateOf(key, now) === 'valid');
  const shown = valid.toReversed().slice(0, mostKeysShown);
  const rest = apiKeys.length - shown.length;
  return html`${
    shown.length === 0
      ? empty('No key is valid', 'The form below grants an admin key.')
      : table(
          'Valid API keys',
          [
            {
              title: 'Name',
              cell: (key) =>
                html`<a href="/o/${organization}/keys/${key.id}">${key.name === '' ? key.id : key.name}</a>`,
            },
            { title: 'Kind', cell: ({ kind }) => kind },
            { title: 'May', cell: ({ scopes }) => scopes.join(', ') },
            { title: 'State', cell: (key) => keyState(key, now) },
            { title: 'Ends', cell: ({ expiresAt }) => (expiresAt === undefined ? 'never' : time(expiresAt, now)) },
            {
              title: 'Last used',
              cell: ({ lastUsedAt }) =>
                lastUsedAt === undefined ? html`<span class="quiet">never</span>` : time(lastUsedAt, now),
            },
          ],
          shown,
        )
  }${rest === 0 ? '' : html`<p><a href="/o/${organization}/keys?show=all">Show ${plural(rest, 'further key')}</a></p>`}`;
}

function keyForm(visit: OrganizationVisit): SafeHtml {
  const { refused } = refusedIn(visit, 'key');
  return formOf(
    visit,
    '/keys',
    'key',
    html`${textField('keyName', { label: 'Name of the key', about: 'For an organization whose own admin keys are lost or have ended.', value: 'key from the operator', required: true }, refused)}
${textField('expiresInDays', { label: 'Ends after days', about: 'Empty: 90 days. Admin keys that the organization creates with it end with it.', type: 'number' }, refused)}
<button class="button">Grant admin key</button>`,
  );
}

const place = { of: 'installation', params, page: organizationPage } as const;

const changeOrganization = form(
  {
    ...place,
    path: '/organizations/:organization',
    fields: z.object({ name: z.string(), plan: z.enum(organizationPlans) }),
  },
  async ({ ask, params: { organization } }, body) => {
    const changed = await ask({ method: 'PATCH', path: `/v1/organizations/${organization}`, body }, organizationSchema);
    return { to: `/organizations/${organization}`, said: `${changed.name} has the plan "${changed.plan}" now.` };
  },
);

const addDomain = form(
  {
    ...place,
    path: '/organizations/:organization/domains',
    fields: z.object({
      domain: z.string().trim(),
      hosts: z
        .string()
        .default('')
        .transform((text) => text.split(/[\s,]+/).filter((host) => host !== '')),
      groups: z.enum(['claimed', 'signed']).default('claimed'),
    }),
  },
  async ({ ask, params: { organization } }, body) => {
    const path = `/v1/organizations/${organization}/domains` as const;
    const { domain } = await ask({ method: 'POST', path, body }, domainAddedSchema);
    return { to: `/organizations/${organization}`, said: `The domain ${domain} is added.` };
  },
);

const grantAdminKey = form(
  {
    ...place,
    path: '/organizations/:organization/keys',
    fields: z.object({
      keyName: z.string().trim(),
      expiresInDays: z
        .literal('')
        .transform(() => undefined)
        .or(z.coerce.number())
        .optional(),
    }),
  },
  async ({ ask, now, params: { organization } }, { keyName: name, expiresInDays }) => {
    const path = `/v1/organizations/${organization}` as const;
    const around = await unlessSilent(ask({ path }, organizationDetailSchema));
    const body = { name, expiresInDays };
    const key = await ask({ method: 'POST', path: `${path}/api-keys`, body }, createdApiKeySchema);
    return secretView({ base: `/o/${organization}`, organization, now }, key, 'Key granted', around);
  },
);

export const organizationRoutes = [organizationPage, changeOrganization, addDomain, grantAdminKey];
