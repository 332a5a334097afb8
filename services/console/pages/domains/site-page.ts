import { z } from 'zod';
import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import { protectedSites } from '#shared/aggregates/site/site-login.ts';
import { type SiteView, siteViewSchema } from '#shared/interfaces/http/sites.ts';
import { hasRole } from '#shared/interfaces/http/person-token.ts';
import { form, page, type Refused, type Visit } from '../../page.ts';
import { attribute, choiceField, listed, pageHead, refusalOf, textField } from '../../pieces/pieces.ts';
import { contentsOf, domainParams, unlessMissing } from './domain-parts.ts';

const siteOfDomain = ({ ask }: Pick<Visit<unknown, unknown>, 'ask'>, domain: string) =>
  unlessMissing(ask({ path: `/v1/domains/${domain}/site` }, siteViewSchema));

/** The settings of a site, which open it, and its closing. */
export const sitePage = page({ path: '/domains/:domain/site', params: domainParams }, async (visit) => {
  const {
    base,
    role,
    params: { domain },
  } = visit;
  const [site] = await Promise.all([siteOfDomain(visit, domain), contentsOf(visit, domain)]);
  const path = `${base}/domains/${domain}`;
  const title = site === undefined ? `Open a site for ${domain}` : `Site of ${domain}`;
  const about =
    site === undefined
      ? 'The latest content is shown at an address, and so is every later publication.'
      : 'Changed settings hold at once.';
  const content = html`${pageHead(title, about, html`<a class="button" href="${path}">To the domain</a>`)}
${refusalOf(visit)}
${hasRole(role, 'editor') ? html`${settingsForm(visit, path, domain, site)}${site === undefined ? '' : closingForm(visit, path, domain, site)}` : html`<p>Changing a site needs the role editor.</p>`}`;
  return { title, content };
});

const checkField = (
  name: string,
  label: string,
  isChecked: boolean,
  refused: Refused | undefined,
  about?: string,
): SafeHtml =>
  html`<div class="field check"><label><input type="checkbox" name="${name}" value="on"${(refused === undefined ? isChecked : refused.fields[name] === 'on') ? html` checked` : ''}${attribute('aria-describedby', about !== undefined && `a-${name}`)}> ${label}</label>${about === undefined ? '' : html`<p class="about" id="a-${name}">${about}</p>`}</div>`;

const areaField = (name: string, label: string, about: string, value: string): SafeHtml =>
  html`<div class="field"><label for="f-${name}">${label}</label><textarea id="f-${name}" name="${name}" rows="4" autocomplete="off" spellcheck="false" aria-describedby="a-${name}">${value}</textarea><p class="about" id="a-${name}">${about}</p></div>`;

function settingsForm(
  visit: Visit<{ domain: string }>,
  path: string,
  domain: string,
  site: SiteView | undefined,
): SafeHtml {
  const { refused, token } = visit;
  const login = site?.login;
  const rules = login?.kind === 'oidc' ? login : undefined;
  const users = login?.kind === 'password' ? login.users.map(({ name }) => name).join('\n') : '';
  const typedUsers = refused?.fields['users']?.replaceAll(/^(\S+)[^\S\n]+.*$/gm, '$1');
  return html`<form method="post" action="${path}/site" class="form">${token}
${textField('name', { label: 'Name', about: 'First part of the address under the base of the installation.', value: site?.name ?? domain }, refused)}
${textField('hosts', { label: 'Host names of your own', about: 'Separated by spaces. Their DNS leads to this installation.', value: site?.hosts.join(' ') ?? '', placeholder: 'docs.example.com' }, refused)}
${choiceField(
  'assistant',
  {
    label: 'Search, answers and feedback',
    value: site?.assistantKey !== undefined ? 'key' : site?.assistant === false ? 'off' : 'site',
    choices: [
      ['site', 'Through the host of the site'],
      ['key', 'Directly, with an assistant key that pages show'],
      ['off', 'Search in the site, no assistant'],
    ],
  },
  refused,
)}
<div class="for-key">${textField('assistantKey', { label: 'Assistant key', about: 'Only for pages that ask the platform directly.', value: site?.assistantKey ?? '', placeholder: 'svc_dsc_…' }, refused)}</div>
${checkField('previews', 'Previews of labelled contents', site?.previews ?? true, refused)}
${checkField('counts', 'Count page views and searches', site?.counts ?? true, refused, 'Without cookies and addresses.')}
<h2>Who may read</h2>
${choiceField(
  'login',
  {
    label: 'Readers',
    value: login?.kind ?? 'none',
    choices: [
      ['none', 'Everybody'],
      ['password', 'Readers with a name and a password'],
      ['oidc', 'Accounts of the provider of this installation'],
    ],
  },
  refused,
)}
<div class="for-login">${choiceField(
    'protects',
    {
      label: 'Closed to others',
      value: login?.protects ?? 'all',
      choices: [
        ['all', 'The live site and its previews'],
        ['previews', 'Only previews'],
      ],
    },
    refused,
  )}</div>
<div class="for-password">${areaField('users', 'Readers with a password', 'One a line: the name, a space and the password. A stored reader without a password keeps theirs.', typedUsers ?? users)}</div>
<div class="for-accounts">${textField('groups', { label: 'Groups of the provider', about: 'Separated by commas. Only for accounts.', value: rules?.groups.join(', ') ?? '' }, refused)}
${textField('emailDomains', { label: 'Domains of mail addresses', about: 'Separated by spaces. Only for accounts.', value: rules?.emailDomains.join(' ') ?? '', placeholder: 'example.com' }, refused)}</div>
<button class="button primary">${site === undefined ? 'Open the site' : 'Save'}</button></form>`;
}

const closingForm = (visit: Visit<{ domain: string }>, path: string, domain: string, site: SiteView): SafeHtml =>
  html`<section aria-labelledby="close"><h2 id="close">Close the site</h2>
<p class="about">Readers of ${site.address} and of its previews see nothing from then on, and after an hour others may claim its host names. Contents and exports stay, and opening it again deploys the latest content.</p>
<form method="post" action="${path}/close" class="form">${visit.token}
${textField('confirm', { label: 'Type the name of the domain to close its site', about: domain, required: true })}
<button class="button danger">Close the site</button></form></section>`;

const check = z
  .literal('on')
  .optional()
  .transform((value) => value === 'on');

const settingsFields = z.object({
  name: z.string().trim().max(100),
  hosts: listed(/[\s,]+/),
  assistant: z.enum(['site', 'key', 'off']),
  assistantKey: z.string().trim().max(100).default(''),
  previews: check,
  counts: check,
  login: z.enum(['none', 'password', 'oidc']),
  protects: z.enum(protectedSites).default('all'),
  users: listed(/\r?\n/),
  groups: listed(/,/),
  emailDomains: listed(/[\s,]+/),
});

/** `ada secret words` → a reader; a line without a space keeps the stored password. Pure. */
function readerIn(line: string): { name: string; password?: string } {
  const [, name = line, password] = /^(\S+)\s+(.+)$/.exec(line) ?? [];
  return { name, ...(password === undefined ? {} : { password }) };
}

export const saveSite = form(
  { path: '/domains/:domain/site', params: domainParams, fields: settingsFields, page: sitePage },
  async ({ ask, base, params: { domain } }, fields) => {
    const { name, hosts, previews, counts, protects, groups, emailDomains } = fields;
    const login =
      fields.login === 'password'
        ? { kind: 'password', protects, users: fields.users.map(readerIn) }
        : fields.login === 'oidc'
          ? { kind: 'oidc', protects, groups, emailDomains }
          : { kind: 'none' };
    const assistant =
      fields.assistant === 'key' ? { assistantKey: fields.assistantKey } : { assistant: fields.assistant === 'site' };
    const body = { ...(name === '' ? {} : { name }), hosts, previews, counts, ...assistant, login };
    const site = await ask({ method: 'PUT', path: `/v1/domains/${domain}/site`, body }, siteViewSchema);
    return { to: `${base}/domains/${domain}`, said: `The site is open at ${site.address}.` };
  },
);

export const closeSite = form(
  { path: '/domains/:domain/close', params: domainParams, fields: z.object({ confirm: z.string() }), page: sitePage },
  async ({ ask, base, params: { domain } }, { confirm }) => {
    if (confirm.trim() !== domain)
      return {
        to: `${base}/domains/${domain}/site`,
        said: 'Nothing was closed: the name that was typed is not the name of the domain.',
      };
    await ask({ method: 'DELETE', path: `/v1/domains/${domain}/site` }, z.undefined());
    return { to: `${base}/domains/${domain}`, said: 'The site is closed.' };
  },
);
