import { z } from 'zod';
import { html } from '#shared/docs/render/html.ts';
import { apiKeyListSchema, whoamiSchema } from '#shared/interfaces/http/directory.ts';
import { jobId } from '#shared/contracts/identifiers.ts';
import { type ExportJob, exportJobSchema, exportListSchema } from '#shared/interfaces/http/exports.ts';
import { page, type Visit } from '../page.ts';
import { unlessSilent } from '../pieces/part.ts';
import { PlatformRefusal } from '../platform.ts';
import { sections } from '../shell.ts';
import { empty, pageHead, state } from '../pieces/pieces.ts';

const query = z.object({ q: z.string().trim().max(100).default('').catch('') });
const mostFound = 20;

type Found = { to: string; words: string; kind: string };

/** The newest exports, and the one with exactly this id. */
async function exportsOf(ask: Visit['ask'], q: string): Promise<ExportJob[]> {
  if (q === '') return [];
  const { jobs } = await ask({ path: '/v1/static-export/jobs', query: { limit: mostFound } }, exportListSchema);
  if (!jobId.safeParse(q).success || jobs.some((each) => each.jobId === q)) return jobs;
  const older = await ask({ path: `/v1/static-export/jobs/${q}` }, exportJobSchema).catch((error: unknown) => {
    if (error instanceof PlatformRefusal && error.status === 404) return undefined;
    throw error;
  });
  return older === undefined ? jobs : [...jobs, older];
}

/** Finds domains, exports, API keys and pages of the console by a part of their name or id. The command palette shows the same list. */
export const findPage = page({ path: '/find', query }, async ({ ask, base, query: { q } }) => {
  const [keys, known, listed] = await Promise.all([
    unlessSilent(ask({ path: '/v1/api-keys' }, apiKeyListSchema)),
    unlessSilent(ask({ path: '/v1/whoami' }, whoamiSchema)),
    unlessSilent(exportsOf(ask, q)),
  ]);
  const [apiKeys, domains, jobs] = [keys?.apiKeys ?? [], known?.domains ?? [], listed ?? []];
  const unknown = [
    known === undefined && 'domains',
    listed === undefined && 'exports',
    keys === undefined && 'API keys',
  ].filter((each) => each !== false);
  const all: Found[] = [
    ...sections.map(([path, words]) => ({ to: base + path, words, kind: 'page' })),
    ...domains.map(({ domain }) => ({ to: `${base}/domains/${domain}`, words: domain, kind: 'domain' })),
    ...jobs.map(({ jobId: id, domain }) => ({
      to: `${base}/exports/${id}`,
      words: `${id} of ${domain}`,
      kind: 'export',
    })),
    ...apiKeys.map(({ id, name }) => ({ to: `${base}/keys/${id}`, words: name === '' ? id : name, kind: 'API key' })),
  ];
  const wanted = q.toLowerCase();
  const found = all.filter(({ words, to }) => `${words} ${to}`.toLowerCase().includes(wanted)).slice(0, mostFound);
  const content = html`${pageHead('Find')}
<form method="get" class="filters" role="search"><input type="search" name="q" value="${q}" aria-label="Part of a name or an id"><button class="button">Find</button></form>
<div id="found">${unknown.length === 0 ? '' : html`<p role="status">${state('bad', `Not searched, because the platform does not answer: ${unknown.join(', ')}.`)}</p>`}${
    found.length === 0
      ? empty('Nothing has this name', 'A part of a name or of an id is enough.')
      : html`<ul>${found.map(({ to, words, kind }) => html`<li><a href="${to}"><span>${words}</span> <span class="quiet">${kind}</span></a></li>`)}</ul>`
  }</div>`;
  return { title: 'Find', content };
});
