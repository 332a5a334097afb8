import { z } from 'zod';
import { html } from '#shared/docs/render/html.ts';
import { deploymentTypes } from '#shared/contracts/stored-objects.ts';
import { exportJobSchema } from '#shared/interfaces/http/exports.ts';
import { hasRole } from '#shared/interfaces/http/person-token.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { form, page } from '../../page.ts';
import { choiceField, empty, listed, pageHead, refusalOf, textField } from '../../pieces/pieces.ts';
import { contentsOf, domainParams } from './domain-parts.ts';

const onceDigits = 20;

const byDefault = [
  ['', 'As the place of the files has it'],
  ['true', 'On'],
  ['false', 'Off'],
] as const;

/** Choices that a link to the page may make. */
const query = z.object({
  version: z.string().max(100).default('').catch(''),
  onPageError: z.enum(['fail', 'report']).default('fail').catch('fail'),
});

/** Starts an export with its options. */
export const newExportPage = page({ path: '/domains/:domain/export', params: domainParams, query }, async (visit) => {
  const {
    base,
    role,
    refused,
    token,
    query: chosen,
    params: { domain },
  } = visit;
  const contents = await contentsOf(visit, domain);
  const path = `${base}/domains/${domain}`;
  const labels = [...new Set(contents.versions.flatMap((each) => each.labels))].toSorted();
  const content = html`${pageHead('Export now', html`The documentation of ${domain} as one archive of static files.`, html`<a class="button" href="${path}">To the domain</a>`)}
${refusalOf(visit)}
${
  !hasRole(role, 'editor')
    ? html`<p>Exporting needs the role editor.</p>`
    : contents.latest === undefined
      ? empty('There is nothing to export', 'Publish a docs project first.')
      : html`<form method="post" action="${path}/export" class="form">${token}<input type="hidden" name="once" value="${refused?.fields['once'] ?? randomBase62(onceDigits)}">
${choiceField('version', { label: 'Content', value: chosen.version, choices: [['', 'The latest'], ...labels.map((label) => [label, label] as const)] }, refused)}
${choiceField(
  'deployment',
  {
    label: 'Place of the files',
    about: 'Without a connection to the platform pages search in their own index, and have no assistant.',
    choices: [
      ['cloud', 'Reaches the platform'],
      ['client-hosted', 'A server of your own'],
      ['air-gapped', 'Without a connection'],
    ] satisfies [(typeof deploymentTypes)[number], string][],
  },
  refused,
)}
${choiceField(
  'onPageError',
  {
    label: 'If a page cannot be exported',
    value: chosen.onPageError,
    choices: [
      ['fail', 'The export fails'],
      ['report', 'The page says so, and the report names it'],
    ],
  },
  refused,
)}
<details class="more"><summary>More options</summary>
${textField('paths', { label: 'Only these pages', about: 'Paths separated by spaces. Empty: all pages.', placeholder: 'guides/install' }, refused)}
${textField('groups', { label: 'Also pages of these groups', about: 'Separated by commas. Empty: only pages that everybody may read.' }, refused)}
${choiceField(
  'allowTenantScripts',
  {
    label: "The project's own scripts",
    choices: [
      ['', 'Run in the browser of readers'],
      ['false', 'Are left out'],
    ],
  },
  refused,
)}
${textField('assistantKey', { label: 'Assistant key', about: 'Public key with which pages search and ask.', placeholder: 'svc_dsc_…' }, refused)}
${choiceField(
  'search',
  {
    label: 'Search',
    choices: [
      ['', 'As the place of the files has it'],
      ['server', 'By the platform'],
      ['bundle', 'In the index of the archive'],
      ['off', 'Off'],
    ],
  },
  refused,
)}
${choiceField('assistant', { label: 'Assistant', choices: byDefault }, refused)}
${choiceField('analytics', { label: 'Analytics', choices: byDefault }, refused)}
${choiceField('playground', { label: 'Playground of references', choices: byDefault }, refused)}
</details>
<button class="button primary">Export</button></form>`
}`;
  return { title: `Export ${domain}`, content };
});

const maybe = z
  .enum(['', 'true', 'false'])
  .default('')
  .transform((value) => (value === '' ? undefined : value === 'true'));

const exportFields = z.object({
  once: z.string().regex(/^[0-9A-Za-z]{1,100}$/),
  version: z.string().max(100).default(''),
  deployment: z.enum(deploymentTypes).default('cloud'),
  onPageError: z.enum(['fail', 'report']).default('fail'),
  paths: listed(/[\s,]+/),
  groups: listed(/,/),
  allowTenantScripts: maybe,
  assistantKey: z.string().trim().max(100).default(''),
  search: z.enum(['', 'server', 'bundle', 'off']).default(''),
  ...{ assistant: maybe, analytics: maybe, playground: maybe },
});

export const startExport = form(
  { path: '/domains/:domain/export', params: domainParams, fields: exportFields, page: newExportPage },
  async ({ ask, base, params: { domain } }, fields) => {
    const { once, version, deployment, onPageError, paths, groups, allowTenantScripts, assistantKey } = fields;
    const { search, assistant, analytics, playground } = fields;
    const features = {
      ...(search === '' ? {} : { search }),
      ...(assistant === undefined ? {} : { assistant }),
      ...(analytics === undefined ? {} : { analytics }),
      ...(playground === undefined ? {} : { playground }),
    };
    const body = {
      ...{ domain, deployment, onPageError, groups },
      ...(version === '' ? {} : { version }),
      ...(paths.length === 0 ? {} : { paths }),
      ...(allowTenantScripts === undefined ? {} : { allowTenantScripts }),
      ...(assistantKey === '' ? {} : { assistantKey }),
      ...(Object.keys(features).length === 0 ? {} : { features }),
    };
    const { jobId } = await ask(
      { method: 'POST', path: '/v1/static-export/jobs', body, headers: { 'idempotency-key': once } },
      exportJobSchema,
    );
    return { to: `${base}/exports/${jobId}`, said: 'The export has begun.' };
  },
);
