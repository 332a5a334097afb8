import { sourceWords } from '#shared/contracts/publication-source.ts';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { auditActions, type AuditAction, type AuditEntry, auditEntrySchema } from '#shared/contracts/audit-entry.ts';
import { timestamp } from '#shared/contracts/identifiers.ts';
import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import { auditAreas, auditListSchema, shownAuditEntrySchema } from '#shared/interfaces/http/audit.ts';
import { whoamiSchema } from '#shared/interfaces/http/directory.ts';
import { keyNames } from '../pieces/key-names.ts';
import { sourceOf } from './domains/domain-parts.ts';
import { auditCsvHead, auditCsvLine, linesOf } from '../audit-csv.ts';
import { page, stream, type Visit } from '../page.ts';
import { answerOrProblem, unlessSilent } from '../pieces/part.ts';
import {
  bytes,
  choiceField,
  command,
  count,
  empty,
  exactly,
  further,
  id,
  pageHead,
  plural,
  printButton,
  relativeTime,
  table,
  textField,
  withQuery,
} from '../pieces/pieces.ts';

const perPage = 50;
/** Limit of the API keys that the field for the actor suggests. */
const mostSuggested = 100;

const text = (longest: number) => z.string().trim().min(1).max(longest).optional().catch(undefined);
const day = z.iso.date().optional().catch(undefined);

/** The filters of the list, as its address has them. */
const filters = {
  actor: text(100),
  action: z
    .enum([...auditAreas, ...auditActions])
    .optional()
    .catch(undefined),
  domain: text(253),
  request: text(100),
  from: day,
  to: day,
};
const query = z.object({ ...filters, cursor: text(600) });
type Filters = z.output<typeof query>;

/** The same filters, as the interface names them. */
const asked = ({ actor, action, domain, request, from, to, cursor }: Filters) => ({
  ...{ actor, action, domain, cursor },
  ...{ requestId: request, since: from, until: to },
});

/** Changes in the organization with their actor, newest first. */
const auditPage = page({ path: '/audit', query }, async (visit) => {
  const { ask, address, now } = visit;
  const [known, knownNames] = await Promise.all([
    unlessSilent(ask({ path: '/v1/whoami' }, whoamiSchema)),
    unlessSilent(keyNames(visit)),
  ]);
  const names = knownNames ?? new Map<string, string>();
  const { domain: asksFor } = visit.query;
  const slugs = known?.domains.map(({ domain }) => domain) ?? (asksFor === undefined ? [] : [asksFor]);
  // A domain that is not listed has no entries to find, and the interface would refuse the request.
  const wanted = { ...visit.query, domain: slugs.find((slug) => slug === asksFor) };
  const isBackwards = wanted.from !== undefined && wanted.to !== undefined && wanted.from > wanted.to;
  const list = isBackwards
    ? undefined
    : await answerOrProblem(ask({ path: '/v1/audit', query: { ...asked(wanted), limit: perPage } }, auditListSchema));
  const { entries, nextCursor } = list?.answer ?? { entries: [], nextCursor: undefined };
  const next = nextCursor && withQuery(address, { cursor: nextCursor });
  const isFiltered = Object.keys(filters).some((name) => wanted[name as keyof Filters] !== undefined);
  const content = html`${pageHead('Audit', 'Who changed what. Each entry is proved by a commit of the log, and the verification shows that no commit was changed.', html`<a class="button" href="${visit.base}/audit/verification">Verify the logs</a>${isBackwards ? '' : exportLinks(visit, wanted)}${printButton}`)}
${filterForm(visit, wanted, slugs, names)}
<p class="for-print">Organization ${visit.organization}, as of ${exactly(now.toISOString())}, by ${visit.session.identity.name}. ${
    isFiltered
      ? Object.keys(filters)
          .flatMap((name) => {
            const value = wanted[name as keyof Filters];
            return value === undefined ? [] : `${name}: ${value}`;
          })
          .join(', ')
      : 'All entries'
  }.</p>
${
  entries.length > 0
    ? entryTable(entries, { ...visit, names, now })
    : list !== undefined && list.answer === undefined
      ? list.problem
      : isBackwards
        ? empty('The first day is after the last one', 'Change one of the two days.')
        : next !== undefined
          ? empty('None of the newest entries match', 'Older ones may: go on with "Older".')
          : empty(
              isFiltered ? 'No entry matches' : 'There are no entries yet',
              isFiltered
                ? html`<a href="${visit.base}/audit">Show all entries</a>`
                : html`The first change writes the first entry.${command('npm run bindery -- audit list')}`,
            )
}${further(next, wanted.cursor && withQuery(address, { cursor: undefined }))}`;
  return { title: 'Audit', content };
});

const exportLinks = ({ base }: Pick<Visit, 'base'>, { cursor: _, ...wanted }: Filters): SafeHtml =>
  html`${(['csv', 'ndjson'] as const).map(
    (as) =>
      html`<a class="button" hx-boost="false" href="${withQuery(`${base}/audit/export`, { ...wanted, as })}" download>${as === 'csv' ? 'CSV' : 'NDJSON'}</a> `,
  )}`;

function filterForm(
  { base }: Visit<unknown, unknown>,
  wanted: Filters,
  domains: readonly string[],
  names: ReadonlyMap<string, string>,
): SafeHtml {
  const actions = [
    ['', 'all'],
    ...auditAreas.map((area) => [area, `${area}: all`] as const),
    ...auditActions.map((action) => [action, action] as const),
  ] as const;
  return html`<form method="get" action="${base}/audit" class="filters">
${textField('actor', { label: 'By', value: wanted.actor ?? '', placeholder: 'key, person or service', list: 'actors' })}
<datalist id="actors">${[...names].slice(0, mostSuggested).map(([key, name]) => html`<option value="${key}">${name}</option>`)}</datalist>
${choiceField('action', { label: 'Action', choices: actions, value: wanted.action ?? '' })}
${choiceField('domain', { label: 'Domain', choices: [['', 'all'], ...domains.map((slug) => [slug, slug] as const)], value: wanted.domain ?? '' })}
${textField('from', { label: 'From', type: 'date', value: wanted.from ?? '' })}
${textField('to', { label: 'To', type: 'date', value: wanted.to ?? '' })}
${wanted.request === undefined ? '' : textField('request', { label: 'Request', value: wanted.request })}
<button class="button">Show</button></form>`;
}

type Around = { base: string; now: Date; names: ReadonlyMap<string, string> };

const entryTable = (entries: readonly AuditEntry[], around: Around): SafeHtml =>
  table(
    'Audit entries',
    [
      {
        title: 'Action',
        cell: ({ action }) =>
          html`<a href="${withQuery(`${around.base}/audit`, { action })}" title="All entries of ${action}">${wordsOf(action)}</a>`,
      },
      { title: 'About', cell: (entry) => aboutOf(entry, around) },
      { title: 'By', cell: ({ actor }) => actorOf(actor, around) },
      {
        title: 'Time',
        cell: (entry) =>
          html`<a href="${entryAddress(around.base, entry)}" title="${relativeTime(entry.time, around.now)}">${exactly(entry.time)}</a>`,
      },
      { title: 'Details', cell: (entry) => detailsOf(entry, around) },
      { title: 'Proof', cell: ({ commit }) => commitOf(commit) },
    ],
    entries,
  );

/** The time in the address leads to the entry, whose id alone would not. */
const entryAddress = (base: string, { time, id: entryId }: AuditEntry): string =>
  `${base}/audit/entries/${encodeURIComponent(time)}/${encodeURIComponent(entryId)}`;

/** `key revoked`. Pure. */
const wordsOf = (action: AuditAction): string => action.replace(/[.-]/g, ' ');

/** The commit that proves an entry: its history and revision, which a verification names with the hash of the last one. */
const commitOf = ({ subject, revision }: NonNullable<AuditEntry['commit']>): SafeHtml =>
  html`<span class="quiet" title="${subject}">${revision === undefined ? 'record' : `revision ${revision}`}</span><code class="for-print">${subject}</code>`;

/** The actor by name, which leads to all of its entries. */
function actorOf({ kind, id: actorId }: AuditEntry['actor'], { base, names }: Around): SafeHtml {
  const to = withQuery(`${base}/audit`, { actor: actorId });
  const name = kind === 'key' ? (names.get(actorId) ?? actorId) : actorId;
  return html`<a href="${to}" title="${actorId}">${name}</a>${kind === actorId ? '' : html` <span class="quiet">${kind}</span>`}`;
}

const isAbout = (action: AuditAction, area: (typeof auditAreas)[number]): boolean => action.startsWith(`${area}.`);

function aboutOf({ action, domain, jobId, keyId, contentVersion, name }: AuditEntry, { base, names }: Around) {
  const key = keyId === undefined ? undefined : (name ?? names.get(keyId) ?? keyId);
  return html`${domain ?? ''} ${jobId === undefined ? '' : html`<a href="${base}/exports/${jobId}">export</a> ${id(jobId)}`}${
    key === undefined ? '' : names.has(keyId ?? '') ? html`<a href="${base}/keys/${keyId}">${key}</a>` : key
  }${jobId === undefined && contentVersion !== undefined ? id(contentVersion) : ''}${isAbout(action, 'organization') ? (name ?? '') : ''}`;
}

/** The other fields of an entry as words; the request leads to everything that it caused. */
function detailsOf(entry: AuditEntry, { base }: Around): SafeHtml {
  const { label, kind, plan, pageCount, sizeBytes, deployment, login, protects, error, expiresAt } = entry;
  const { replayOf, oldKeyId, address: from, requestId } = entry;
  const facts = [
    label && `label ${label}`,
    entry.source && sourceWords(entry.source),
    kind && `${kind} key`,
    plan && `plan ${plan}`,
    deployment !== undefined && `deployment ${deployment}`,
    login && `login ${login}${protects === undefined ? '' : ` for ${protects}`}`,
    pageCount !== undefined && plural(pageCount, 'page'),
    sizeBytes !== undefined && bytes(sizeBytes),
    replayOf && `replay of ${replayOf}`,
    oldKeyId && `replaces ${oldKeyId}`,
    expiresAt && `until ${expiresAt.slice(0, 16).replace('T', ' ')} UTC`,
    from && `from ${from}`,
    error,
  ].filter((fact) => typeof fact === 'string' && fact !== '');
  return html`${facts.join(', ')}${
    requestId === undefined
      ? ''
      : html` <a class="quiet" href="${withQuery(`${base}/audit`, { request: requestId })}" title="${requestId}">request</a>`
  }`;
}

const atOnce = 500;
const entryParams = z.object({ time: timestamp, entry: auditEntrySchema.shape.id });

/** One entry with all that is recorded, for an address that can be sent on and a page that can be printed. */
const entryPage = page({ path: '/audit/entries/:time/:entry', params: entryParams }, async (visit) => {
  const { ask, base, now, params } = visit;
  const [entry, names] = await Promise.all([entryAt(ask, params), unlessSilent(keyNames(visit))]);
  const back = html`<a class="button" href="${base}/audit">To the audit</a>`;
  if (entry === undefined)
    return {
      title: 'Audit entry',
      status: 404,
      content: html`${pageHead('Audit entry')}${empty('There is no such entry', html`Its address may be incomplete, or the time for which it is kept has ended. ${back}`)}`,
    };
  const around: Around = { base, now, names: names ?? new Map<string, string>() };
  const heading = wordsOf(entry.action).replace(/^./, (first) => first.toUpperCase());
  const content = html`${pageHead(heading, html`${exactly(entry.time)}, ${relativeTime(entry.time, now)}`, html`${back}${printButton}`)}
<p class="for-print">Organization ${visit.organization}, as of ${exactly(now.toISOString())}, by ${visit.session.identity.name}.</p>
<dl class="facts">${factsOf(entry, around).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
<h2>Proof</h2>
<p class="about">This commit of the log made the entry. The <a href="${base}/audit/verification">verification of the logs</a> shows that no commit was changed, and names the end of the chain that contains it.</p>
<dl class="facts"><dt>History</dt><dd><code>${entry.commit.subject}</code></dd>${entry.commit.revision === undefined ? '' : html`<dt>Revision</dt><dd>${entry.commit.revision}</dd>`}<dt>Commit</dt><dd><code>${entry.commit.id}</code></dd><dt>Entry</dt><dd><code>${entry.id}</code></dd></dl>`;
  return { title: `${heading}, ${entry.time.slice(0, 10)}`, content };
});

/** The entry with an id among those of its millisecond. */
async function entryAt(
  ask: Visit['ask'],
  { time: at, entry: wanted }: z.output<typeof entryParams>,
): Promise<AuditEntry | undefined> {
  for (let cursor: string | undefined; ; ) {
    const { entries, nextCursor } = await ask(
      { path: '/v1/audit', query: { since: at, until: at, limit: atOnce, cursor } },
      auditListSchema,
    );
    const found = entries.find((each) => each.id === wanted);
    if (found !== undefined || nextCursor === undefined) return found;
    cursor = nextCursor;
  }
}

/** All fields of an entry but those of its proof, each with its name. */
function factsOf(entry: AuditEntry, around: Around): (readonly [name: string, value: SafeHtml | string])[] {
  const { base } = around;
  const { domain, jobId, contentVersion, keyId, name, requestId, sha256, replayOf, source, error } = entry;
  const exportOf = (of: string) => html`<a href="${base}/exports/${of}"><code>${of}</code></a>`;
  const facts: [string, SafeHtml | string | false | undefined][] = [
    [
      'Action',
      html`<a href="${withQuery(`${base}/audit`, { action: entry.action })}"><code>${entry.action}</code></a>`,
    ],
    ['By', actorOf(entry.actor, around)],
    ['Domain', domain !== undefined && html`<a href="${base}/domains/${domain}">${domain}</a>`],
    ['Export', jobId !== undefined && exportOf(jobId)],
    ['Replay of', replayOf !== undefined && exportOf(replayOf)],
    [
      'Content',
      contentVersion !== undefined &&
        (domain === undefined
          ? html`<code>${contentVersion}</code>`
          : html`<a href="${base}/domains/${domain}/content/${contentVersion}"><code>${contentVersion}</code></a>`),
    ],
    ['Label', entry.label],
    ['From', source !== undefined && sourceOf(source)],
    [
      'Key',
      keyId !== undefined &&
        (around.names.has(keyId)
          ? html`<a href="${base}/keys/${keyId}"><code>${keyId}</code></a>`
          : html`<code>${keyId}</code>`),
    ],
    ['Replaced key', entry.oldKeyId !== undefined && html`<code>${entry.oldKeyId}</code>`],
    ['Name', name],
    ['Kind', entry.kind],
    ['Plan', entry.plan],
    ['Deployment', entry.deployment !== undefined && String(entry.deployment)],
    ['Login', entry.login],
    ['Protects', entry.protects],
    ['Pages', entry.pageCount !== undefined && count(entry.pageCount)],
    ['Size', entry.sizeBytes !== undefined && `${bytes(entry.sizeBytes)} (${count(entry.sizeBytes)} bytes)`],
    ['SHA-256', sha256 !== undefined && html`<code class="hash">${sha256}</code>`],
    ['Until', entry.expiresAt !== undefined && exactly(entry.expiresAt)],
    ['Address', entry.address],
    ['Hash of the address', entry.addressHash !== undefined && html`<code class="hash">${entry.addressHash}</code>`],
    ['Error', error],
    [
      'Request',
      requestId !== undefined &&
        html`<a href="${withQuery(`${base}/audit`, { request: requestId })}" title="All that this request caused"><code>${requestId}</code></a>`,
    ],
  ];
  return facts.flatMap(([title, value]) =>
    value === undefined || value === false || value === '' ? [] : [[title, value] as const],
  );
}

const ndjson = 'application/x-ndjson';
const exportQuery = z.object({ ...filters, as: z.enum(['csv', 'ndjson']).default('csv').catch('csv') });

/** All entries that match as a file, which is sent while it is read. */
const auditExport = stream({ path: '/audit/export', query: exportQuery }, async (visit, reply) => {
  const { as, ...wanted } = visit.query;
  const request = {
    path: '/v1/audit',
    query: asked({ ...wanted, cursor: undefined }),
    headers: { accept: ndjson },
  } as const;
  const [{ body }, names] = await Promise.all([visit.open(request), as === 'csv' ? keyNames(visit) : new Map()]);
  const parts = Readable.fromWeb(body ?? new Blob([]).stream());
  const name = `audit-${visit.organization}-${visit.now.toISOString().slice(0, 10)}.${as}`;
  return reply
    .header('content-type', as === 'csv' ? 'text/csv; charset=utf-8' : ndjson)
    .header('content-disposition', `attachment; filename="${name}"`)
    .send(as === 'csv' ? Readable.from(csvOf(parts, (key) => names.get(key))) : parts);
});

async function* csvOf(parts: Readable, nameOf: (id: string) => string | undefined): AsyncGenerator<string> {
  yield auditCsvHead;
  for await (const line of linesOf(parts.setEncoding('utf8')))
    yield auditCsvLine(shownAuditEntrySchema.parse(JSON.parse(line)), nameOf);
}

export const auditRoutes = [auditPage, entryPage, auditExport];
