import { z } from 'zod';
import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import { apiKeySchema, keyScopes } from '#shared/aggregates/directory/directory.ts';
import {
  apiKeyListSchema,
  apiKeyRevokedSchema,
  createdApiKeySchema,
  type CreatedApiKey,
  type ListedApiKey,
  whoamiSchema,
} from '#shared/interfaces/http/directory.ts';
import { hasRole } from '#shared/interfaces/http/person-token.ts';
import { form, page, type Visit } from '../page.ts';
import { unlessSilent } from '../pieces/part.ts';
import {
  choiceField,
  command,
  copyButton,
  empty,
  further,
  id,
  listed,
  pageHead,
  plural,
  refusalOf,
  state,
  table,
  textField,
  time,
  withQuery,
} from '../pieces/pieces.ts';

const params = z.object({ id: apiKeySchema.shape.id });
/** An organization has at most 500 keys. */
const keysAtOnce = 100;

const query = z.object({
  show: z.enum(['valid', 'all']).default('valid').catch('valid'),
  /** The last key of the page before. */
  after: apiKeySchema.shape.id.optional().catch(undefined),
});

/** The state of a key: `valid` until its end. Pure. */
export const stateOf = (key: ListedApiKey, now: Date): 'valid' | 'expired' | 'revoked' => {
  if (key.revokedAt !== undefined && Date.parse(key.revokedAt) <= now.getTime()) return 'revoked';
  return key.expiresAt !== undefined && Date.parse(key.expiresAt) <= now.getTime() ? 'expired' : 'valid';
};

/** API keys of the organization, and the form for a new one. */
const keysPage = page({ path: '/keys', query }, async (visit) => {
  const {
    ask,
    base,
    role,
    now,
    address,
    query: { show, after },
  } = visit;
  const { apiKeys } = await ask({ path: '/v1/api-keys' }, apiKeyListSchema);
  const listed = apiKeys.filter((key) => show === 'all' || stateOf(key, now) === 'valid');
  const start = listed.findIndex(({ id: each }) => each === after) + 1;
  const shown = listed.slice(start, start + keysAtOnce);
  const next = start + keysAtOnce < listed.length ? shown.at(-1)?.id : undefined;
  const ended = apiKeys.length - apiKeys.filter((key) => stateOf(key, now) === 'valid').length;
  const mayMake = hasRole(role, 'admin');
  const content = html`${pageHead('API keys', 'Admin keys are secret and administer the organization. Assistant keys are public and can only ask.', mayMake ? html`<a class="button primary" href="#new-key">New key</a>` : '')}
${
  shown.length === 0
    ? empty('No key is valid', 'The form below makes one.')
    : table(
        'API keys',
        [
          {
            title: 'Name',
            cell: (key) => html`<a href="${base}/keys/${key.id}">${key.name === '' ? key.id : key.name}</a>`,
          },
          { title: 'Kind', cell: ({ kind }) => kind },
          { title: 'May', cell: ({ scopes }) => rightsOf(scopes) },
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
}${further(next && withQuery(address, { after: next }), start === 0 ? undefined : withQuery(address, { after: undefined }), 'More')}
${ended === 0 ? '' : html`<p>${show === 'all' ? html`<a href="${base}/keys">Hide keys that ended</a>` : html`<a href="${base}/keys?show=all">Show ${plural(ended, 'key')} that ended</a>`}</p>`}
${mayMake ? newKeyForm(visit) : ''}`;
  return { title: 'API keys', content };
});

/** The scopes of a key in words. Pure. */
function rightsOf(scopes: ListedApiKey['scopes']): string {
  const known = scopeWords.find(([value]) => value === scopes.join(','));
  return known === undefined ? scopes.join(', ') : known[1];
}

/** Scopes that people choose, with the words for the table and for the choice. */
const scopeWords = [
  ['read,write', 'read and write', 'Read and write: everything'],
  ['export', 'only export', 'Only export: start, follow and download exports'],
  ['read', 'only read', 'Only read'],
  ['read,proxy', 'read for named readers', 'Read for named readers (assistant keys of a server)'],
] as const;

/** The state of a key as a word and a shape. */
export const keyState = (key: ListedApiKey, now: Date): SafeHtml => {
  const is = stateOf(key, now);
  return state(is === 'valid' ? 'good' : 'idle', is);
};

const newKeyForm = (
  visit: Visit<unknown, unknown>,
): SafeHtml => html`<section aria-labelledby="new-key"><h2 id="new-key">New key</h2>
${refusalOf(visit)}
<form method="post" action="${visit.base}/keys" class="form">${visit.token}
${textField('name', { label: 'Name', about: 'What will use it, such as "CI".', required: true }, visit.refused)}
${choiceField(
  'kind',
  {
    label: 'Kind',
    choices: [
      ['admin', 'Admin: secret, for programs of yours'],
      ['assistant', 'Assistant: public, for pages that search and ask'],
    ],
  },
  visit.refused,
)}
${choiceField(
  'scopes',
  {
    label: 'May',
    about:
      'Publishing, exporting and deploying are writing. A key that may only export is for a pipeline that ships the site.',
    choices: scopeWords.map(([value, , words]) => [value, words] as const),
  },
  visit.refused,
)}
${textField('expiresInDays', { label: 'Ends after days', about: 'Empty: 90 days for an admin key, and never for an assistant key.', type: 'number' }, visit.refused)}
${textField('allowedAddresses', { label: 'Only from these addresses', about: 'IP addresses and networks, separated by spaces. Empty: from everywhere.', placeholder: '203.0.113.0/24' }, visit.refused)}
${textField('allowedOrigins', { label: 'Only on pages of these origins', about: 'For assistant keys, separated by spaces. Empty: everywhere.', placeholder: 'https://docs.example.com' }, visit.refused)}
<button class="button primary">Create key</button>
</form></section>`;

const newKeyFields = z.object({
  name: z.string().trim().max(100),
  kind: z.enum(['admin', 'assistant']),
  scopes: z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(z.enum(keyScopes)).min(1)),
  expiresInDays: z
    .literal('')
    .transform(() => undefined)
    .or(z.coerce.number().int().min(1))
    .optional(),
  allowedAddresses: listed(/[\s,]+/),
  allowedOrigins: listed(/[\s,]+/),
});

const createKey = form(
  { path: '/keys', role: 'admin', fields: newKeyFields, page: keysPage },
  async (visit, fields) => {
    const { allowedAddresses, allowedOrigins, ...rest } = fields;
    const body = {
      ...rest,
      ...(allowedAddresses.length > 0 && { allowedAddresses }),
      ...(allowedOrigins.length > 0 && { allowedOrigins }),
    };
    const around = await unlessSilent(visit.ask({ path: '/v1/whoami' }, whoamiSchema));
    const key = await visit.ask({ method: 'POST', path: '/v1/api-keys', body }, createdApiKeySchema);
    return secretView(visit, key, 'Key created', around);
  },
);

type Whoami = z.output<typeof whoamiSchema>;

/** The page with the secret of a new key, which is shown only now. */
export const secretView = (
  { base, organization, now }: Pick<Visit, 'base' | 'organization' | 'now'>,
  key: Pick<CreatedApiKey, 'id' | 'name' | 'key'> & Partial<CreatedApiKey>,
  title: string,
  { domains, platformUrl }: Pick<Whoami, 'domains' | 'platformUrl'> = { domains: [] },
) => {
  const { kind, scopes, expiresAt } = key;
  return {
    title,
    content: html`${pageHead(title, 'Copy the secret now. It is not stored, and no page shows it again.')}
<div class="secret"><p class="id"><code id="secret">${key.key}</code>${copyButton(key.key, 'Copy the secret')}</p></div>
<dl class="facts"><dt>Name</dt><dd>${key.name === '' ? key.id : key.name}</dd><dt>Organization</dt><dd>${organization}</dd>
${kind === undefined ? '' : html`<dt>Kind</dt><dd>${kind}</dd>`}${scopes === undefined ? '' : html`<dt>May</dt><dd>${rightsOf(scopes)}</dd><dt>Ends</dt><dd>${expiresAt === undefined ? 'never' : time(expiresAt, now)}</dd>`}</dl>
<h2>Try it</h2>${command(trial(key, platformUrl ?? '$BINDERY_URL', domains[0]?.domain ?? 'docs'))}
<p><a href="${base}/keys">To all keys</a></p>`,
  };
};

/** A request that shows what a new key may do. Pure. */
function trial(key: Pick<CreatedApiKey, 'key'> & Partial<CreatedApiKey>, url: string, domain: string): string {
  const authorized = `curl -H 'Authorization: Bearer ${key.key}'`;
  const json = (body: object) => `-H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
  if (key.kind === 'assistant')
    return `${authorized} ${json({ query: 'How do I begin?' })} "${url}/discovery/v1/search/${domain}"`;
  if (key.scopes?.join() === 'export') return `${authorized} ${json({ domain })} "${url}/v1/static-export/jobs"`;
  return `${authorized} "${url}/v1/whoami"`;
}

/** One key: its rights, and what can be done with it. */
const keyPage = page({ path: '/keys/:id', params }, async (visit) => {
  const {
    ask,
    base,
    role,
    now,
    params: { id: keyId },
  } = visit;
  const { apiKeys } = await ask({ path: '/v1/api-keys' }, apiKeyListSchema);
  const key = apiKeys.find((each) => each.id === keyId);
  if (key === undefined)
    return {
      title: 'API key',
      status: 404,
      content: empty('This key is no longer listed', html`<a href="${base}/keys">To all keys</a>`),
    };
  const isValid = stateOf(key, now) === 'valid';
  const content = html`${pageHead(key.name === '' ? key.id : key.name, keyState(key, now))}
${refusalOf(visit)}
<dl class="facts">
<dt>Id</dt><dd>${id(key.id)}</dd>
<dt>Kind</dt><dd>${key.kind}</dd>
<dt>May</dt><dd>${rightsOf(key.scopes)}</dd>
<dt>Addresses</dt><dd>${key.allowedAddresses.length === 0 ? 'from everywhere' : key.allowedAddresses.join(', ')}</dd>
<dt>Origins</dt><dd>${key.allowedOrigins.length === 0 ? 'all' : key.allowedOrigins.join(', ')}</dd>
<dt>Created</dt><dd>${time(key.createdAt, now)}</dd>
<dt>Ends</dt><dd>${key.expiresAt === undefined ? 'never' : time(key.expiresAt, now)}</dd>
<dt>Last used</dt><dd>${key.lastUsedAt === undefined ? 'never' : time(key.lastUsedAt, now)}</dd>
</dl>
${
  !isValid || !hasRole(role, 'admin')
    ? ''
    : html`<h2>Rotate</h2><p class="about">A new key with the same rights replaces this one, which stays valid for the overlap.</p>
<form method="post" action="${base}/keys/${key.id}/rotate" class="form">${visit.token}
${textField('overlapHours', { label: 'Overlap in hours', type: 'number', value: '24', required: true }, visit.refused)}
<button class="button">Rotate</button></form>
<h2>Revoke</h2><p class="about">Every gateway refuses the key within a second. There is no way back.</p>
<form method="post" action="${base}/keys/${key.id}/revoke" class="form">${visit.token}
${textField('confirm', { label: "Type the key's name to revoke it", about: key.name === '' ? key.id : key.name, required: true })}
${choiceField('descendants', {
  label: 'Keys that it created',
  choices: [
    ['keep', 'stay valid'],
    ['revoke', 'are revoked too'],
  ],
})}
<button class="button danger">Revoke</button></form>`
}`;
  return { title: key.name === '' ? 'API key' : key.name, content };
});

const rotateKey = form(
  {
    path: '/keys/:id/rotate',
    role: 'admin',
    params,
    fields: z.object({ overlapHours: z.coerce.number().min(0).max(720) }),
    page: keyPage,
  },
  async (visit, body) => {
    const around = await unlessSilent(visit.ask({ path: '/v1/whoami' }, whoamiSchema));
    const path = `/v1/api-keys/${visit.params.id}/rotate` as const;
    const key = await visit.ask({ method: 'POST', path, body }, createdApiKeySchema);
    return secretView(visit, key, 'Key rotated', around);
  },
);

const revokeKey = form(
  {
    path: '/keys/:id/revoke',
    role: 'admin',
    params,
    fields: z.object({ descendants: z.enum(['keep', 'revoke']).default('keep'), confirm: z.string() }),
    page: keyPage,
  },
  async ({ ask, base, params: { id: keyId } }, { descendants, confirm }) => {
    const { apiKeys } = await ask({ path: '/v1/api-keys' }, apiKeyListSchema);
    const key = apiKeys.find((each) => each.id === keyId);
    if (key !== undefined && confirm.trim() !== (key.name === '' ? key.id : key.name))
      return {
        to: `${base}/keys/${keyId}`,
        said: 'Nothing was revoked: the name that was typed is not the name of the key.',
      };
    const revoked = await ask(
      { method: 'DELETE', path: `/v1/api-keys/${keyId}`, query: { descendants } },
      apiKeyRevokedSchema,
    );
    const others = revoked.descendants.filter((each) => each.revokedAt === undefined).length;
    const rest = others === 0 ? '' : ` ${plural(others, 'key')} that it created stay valid.`;
    return { to: `${base}/keys`, said: `The key is revoked.${rest}` };
  },
);

export const keyRoutes = [keysPage, createKey, keyPage, rotateKey, revokeKey];
