import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ExportEvent } from '#shared/aggregates/export-job/export-job.ts';
import { directoryLogSubject, exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import type { AuditEntry } from '#shared/contracts/audit-entry.ts';
import {
  type AuditList,
  auditListSchema,
  limitListSchema,
  type Usage,
  usageSchema,
} from '#shared/interfaces/http/audit.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  operatorToken,
  type TestOrganization,
} from '../../../test/support/gateway-harness.ts';
import { threadWriter } from '../../../test/support/make-thread.ts';
import { accessRecord, contentCommit, exportCommit, exportState } from '../../../test/support/make-commit.ts';

const dayMs = 86_400_000;
const digest = 'd'.repeat(64);
const contentVersion = `cv_${'1'.repeat(32)}`;

let gateway: GatewayHarness;
let acme: TestOrganization;
let other: TestOrganization;
let jobCount = 0;

beforeEach(async () => {
  gateway = await gatewayHarness();
  acme = await createOrganization(gateway);
  other = await createOrganization(gateway, 'Other');
});

afterEach(() => gateway.close());

const get = (url: string, headers: Record<string, string> = {}, key = acme.adminKey) =>
  gateway.app.inject({ url, headers: { ...bearer(key), ...headers } });
const audit = async (query = ''): Promise<AuditList> => {
  const answer = await get(`/v1/audit${query}`);
  expect(answer.statusCode).toBe(200);
  return auditListSchema.parse(answer.json());
};
const usage = async (query = ''): Promise<Usage> => {
  const answer = await get(`/v1/usage${query}`);
  expect(answer.statusCode).toBe(200);
  return usageSchema.parse(answer.json());
};
const actions = ({ entries }: AuditList) => entries.map(({ action }) => action);

/** An export of an organization from its request to its end, and a link to it a second later. */
async function exported(organization: string, createdAt: string, domain = 'docs'): Promise<string> {
  jobCount += 1;
  const jobId = `se_${String(jobCount).padStart(22, '0')}`;
  const state = exportState({ jobId, organization, domain, createdAt });
  const { organizationPlan, options, requestDigest } = state;
  const requested: ExportEvent = {
    type: 'ExportRequested',
    version: 1,
    data: { jobId, organization, organizationPlan, domain, contentVersion, options, requestDigest },
  };
  const completed: ExportEvent = {
    type: 'ExportCompleted',
    version: 1,
    data: { bundleKey: 'bundles/x', sizeBytes: 1_000, sha256: digest, manifestSha256: digest },
  };
  const { exports, access } = gateway.bus;
  const first = await exports.append(exportCommit(state, undefined, [requested]), { sequence: 0 });
  const ended = exportCommit({ ...state, phase: 'completed', pageCount: 7 }, first, [completed]);
  await exports.append(ended, { sequence: first.sequence });
  const time = new Date(Date.parse(createdAt) + 3_000).toISOString();
  await access.record(
    accessRecord({ id: `al_${String(jobCount).padStart(22, '0')}`, organization, jobId, domain, time }),
  );
  await gateway.bus.projected();
  return jobId;
}

async function published(organization: string, label: string): Promise<void> {
  const data = { organization, domain: 'docs', contentVersion, pageCount: 3, fileCount: 4, sizeBytes: 500, label };
  await gateway.bus.content.append(contentCommit({ type: 'ContentPublished', version: 1, data }), { sequence: 0 });
  await gateway.bus.projected();
}

test('lists the entries of all logs, newest first, with their actors and commits', async () => {
  await published(acme.id, 'v1');
  const jobId = await exported(acme.id, '2026-03-01T12:00:00.000Z');
  const { entries, nextCursor } = await audit();
  expect(nextCursor).toBeUndefined();
  expect(actions({ entries })).toEqual([
    'link.signed',
    'export.completed',
    'export.requested',
    'key.created',
    'domain.added',
    'key.created',
    'organization.created',
    'content.labelled',
    'content.published',
  ]);
  expect(entries[0]).toMatchObject({ jobId, domain: 'docs', address: '192.0.2.7', actor: { kind: 'key' } });
  expect(entries[1]).toMatchObject({
    jobId,
    pageCount: 7,
    sizeBytes: 1_000,
    sha256: digest,
    commit: { subject: `exports.${acme.id}.${jobId}.log`, revision: 2, id: expect.any(String) },
  });
  expect(entries[3]).toMatchObject({ actor: { kind: 'key', id: acme.adminKeyId }, kind: 'assistant', name: 'site' });
  expect(entries[6]).toMatchObject({ actor: { kind: 'operator' }, name: 'Acme', plan: 'enterprise' });
});

/** Makes every change that a request can ask for, each from one address; returns the ids of the requests. */
async function changeEverything(): Promise<string[]> {
  const ids: string[] = [];
  const change = async (method: 'POST' | 'PATCH' | 'DELETE', url: string, payload: object | undefined, key: string) => {
    const answer = await gateway.app.inject({
      method,
      url,
      headers: bearer(key),
      remoteAddress: '198.51.100.7',
      ...(payload === undefined ? {} : { payload }),
    });
    expect(answer.statusCode).toBeLessThan(300);
    ids.push(String(answer.headers['x-request-id']));
    return answer.body === '' ? undefined : answer.json();
  };
  await change('PATCH', `/v1/organizations/${acme.id}`, { name: 'Acme Corp' }, operatorToken);
  await change('POST', `/v1/organizations/${acme.id}/domains`, { domain: 'blog' }, operatorToken);
  const made = await change('POST', '/v1/api-keys', { kind: 'admin' }, acme.adminKey);
  const rotated = await change('POST', `/v1/api-keys/${made.id}/rotate`, {}, acme.adminKey);
  await change('DELETE', `/v1/api-keys/${rotated.id}`, undefined, acme.adminKey);
  await published(acme.id, 'v1');
  await change('POST', '/v1/static-export/jobs', { domain: 'docs' }, acme.adminKey);
  await gateway.bus.projected();
  return ids.toReversed();
}

test('each change says by which request and from where, and the address itself is in no log', async () => {
  const ids = await changeEverything();
  const { entries } = await audit('?address=198.51.100.7');
  expect(actions({ entries })).toEqual([
    'export.requested',
    'key.revoked',
    'key.rotated',
    'key.created',
    'domain.added',
    'organization.changed',
  ]);
  expect(entries.map(({ requestId }) => requestId)).toEqual(ids);
  expect(new Set(entries.map(({ addressHash }) => addressHash)).size).toBe(1);
  // The notation of the address does not matter.
  expect((await audit('?address=::ffff:198.51.100.7')).entries).toEqual(entries);
  expect((await audit('?address=198.51.100.8')).entries).toEqual([]);
  expect(actions(await audit(`?requestId=${ids[2]}`))).toEqual(['key.rotated']);
  const wrong = await get('/v1/audit?address=198.51.100.0/24');
  expect([wrong.statusCode, wrong.json().error]).toEqual([
    400,
    'The parameter "address" must be an IP address such as 192.0.2.7.',
  ]);
  const { directory, exports } = gateway.bus;
  const logs = [];
  for await (const { commit } of directory.history(directoryLogSubject(acme.id))) logs.push(commit);
  for await (const { commit } of exports.history(exportLogSubject(acme.id, entries[0]?.jobId ?? ''))) logs.push(commit);
  expect(logs).toHaveLength(9);
  expect(logs.every(({ request }) => request !== undefined)).toBe(true);
  expect(JSON.stringify(logs)).not.toContain('198.51.100');
});

test('the same address has another hash in another organization', async () => {
  const hashes = async (key: string) => {
    const { entries } = auditListSchema.parse((await get('/v1/audit', {}, key)).json());
    return new Set(entries.map(({ addressHash }) => addressHash));
  };
  const [ours, theirs] = [await hashes(acme.adminKey), await hashes(other.adminKey)];
  expect([ours.size, theirs.size, new Set([...ours, ...theirs]).size]).toEqual([1, 1, 2]);
});

test('entries of links have the hash of their address, too; older entries have none and are listed', async () => {
  const jobId = await exported(acme.id, '2026-03-01T12:00:00.000Z');
  const { entries } = await audit('?address=192.0.2.7');
  expect(entries).toMatchObject([{ action: 'link.signed', jobId, address: '192.0.2.7' }].map(anyId));
  const older = (await audit(`?jobId=${jobId}&action=export`)).entries;
  expect(older).toHaveLength(2);
  for (const entry of older) expect(entry).not.toHaveProperty('addressHash');
});

const anyId = (entry: object) => ({ ...entry, requestId: expect.stringMatching(/^req_/) });

test('an organization sees no entries of another', async () => {
  const jobId = await exported(other.id, '2026-03-01T12:00:00.000Z');
  expect(JSON.stringify(await audit())).not.toMatch(/se_0|Other/);
  const asked = await get(`/v1/audit?jobId=${jobId}`);
  expect([asked.statusCode, asked.json().code]).toEqual([404, 'not_found']);
  expect((await usage('?month=2026-03')).months[0]?.total.exportsStarted).toBe(0);
});

test('a key that may only read is enough, one that may only write is not', async () => {
  const keyFor = async (scope: string) => {
    const payload = { kind: 'admin', scopes: [scope] };
    const made = await gateway.app.inject({
      method: 'POST',
      url: '/v1/api-keys',
      headers: bearer(acme.adminKey),
      payload,
    });
    return made.json().key as string;
  };
  const [reader, writer] = [await keyFor('read'), await keyFor('write')];
  for (const url of ['/v1/audit', '/v1/usage']) {
    expect((await get(url, {}, reader)).statusCode).toBe(200);
    expect((await get(url, {}, writer)).json().code).toBe('missing_scope');
  }
});

test('filters return only matching entries', async () => {
  await published(acme.id, 'v1');
  const first = await exported(acme.id, '2026-03-01T12:00:00.000Z');
  await exported(acme.id, '2026-03-02T12:00:00.000Z');
  expect(actions(await audit(`?jobId=${first}`))).toEqual(['link.signed', 'export.completed', 'export.requested']);
  expect(actions(await audit('?action=key'))).toEqual(['key.created', 'key.created']);
  expect(actions(await audit('?action=content.labelled'))).toEqual(['content.labelled']);
  expect(actions(await audit(`?actor=${acme.adminKeyId}`))).toEqual(['key.created']);
  expect(actions(await audit('?actor=publisher&domain=docs.acme.test'))).toHaveLength(2);
  expect(actions(await audit('?since=2026-03-02'))).toHaveLength(3);
  expect(actions(await audit('?until=2026-03-01&action=export'))).toHaveLength(2);
  expect(actions(await audit('?since=2026-03-01T12:00:02.000Z&until=2026-03-01T13:00:03%2B01:00'))).toEqual([
    'link.signed',
    'export.completed',
  ]);
  expect(actions(await audit('?actor=nobody'))).toEqual([]);
});

test('page by page it is the same as at once, and as lines', async () => {
  for (let day = 1; day <= 5; day += 1) await exported(acme.id, `2026-03-0${day}T12:00:00.000Z`);
  const whole = (await audit('?limit=500')).entries;
  expect(whole).toHaveLength(19);
  const paged: AuditEntry[] = [];
  for (let cursor = ''; ; ) {
    const page = await audit(`?limit=4${cursor}`);
    paged.push(...page.entries);
    if (page.nextCursor === undefined) break;
    expect(page.entries).toHaveLength(4);
    cursor = `&cursor=${page.nextCursor}`;
  }
  expect(paged).toEqual(whole);
  const lines = async (query: string) => {
    const answer = await get(`/v1/audit${query}`, { accept: 'application/x-ndjson' });
    expect(answer.headers['content-type']).toContain('application/x-ndjson');
    return answer.body
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as AuditEntry);
  };
  expect(await lines('')).toEqual(whole);
  expect(await lines('?limit=3')).toEqual(whole.slice(0, 3));
  expect(await lines('?actor=nobody')).toEqual([]);
});

test('each filter finds, entry by entry, those of the whole list that match', async () => {
  const jobs = [
    await exported(acme.id, '2026-03-01T12:00:00.000Z'),
    await exported(acme.id, '2026-03-01T12:00:00.000Z'),
  ];
  await published(acme.id, 'v1');
  await exported(acme.id, '2026-03-03T12:00:00.000Z', 'other');
  const whole = (await audit('?limit=500')).entries;
  for (const [query, matches] of [
    ['jobId='.concat(jobs[1] ?? ''), ({ jobId }) => jobId === jobs[1]],
    ['actor=orchestrator', ({ actor }) => actor.id === 'orchestrator'],
    ['action=export', ({ action }) => action.startsWith('export.')],
    ['action=export.completed', ({ action }) => action === 'export.completed'],
    ['action=link&actor=key_0000000000000000', ({ action }) => action === 'link.signed'],
    [`requestId=${whole[0]?.requestId}`, ({ requestId }) => requestId === whole[0]?.requestId],
  ] satisfies [string, (entry: AuditEntry) => boolean][]) {
    const found: AuditEntry[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const page: AuditList = await audit(`?limit=1&${query}${cursor === '' ? '' : `&cursor=${cursor}`}`);
      found.push(...page.entries);
      cursor = page.nextCursor;
    }
    expect([query, found]).toEqual([query, whole.filter(matches)]);
  }
});

test('a search for rare entries answers after a limit of reads, with a cursor to continue', async () => {
  const start = Date.parse('2026-03-01T12:00:00.000Z');
  const dayAt = (day: number) => new Date(start + day * dayMs).toISOString();
  const rare = await exported(acme.id, dayAt(0), 'rare');
  // The list has two documents per day.
  for (let day = 1; day <= 255; day += 1) await exported(acme.id, dayAt(day));
  const first = await audit('?actor=key_0000000000000000&action=link&limit=500');
  expect(first.nextCursor).toBeUndefined();
  expect(first.entries).toHaveLength(256);
  const nothing = await audit('?actor=nobody');
  expect(nothing.entries).toEqual([]);
  expect(await audit(`?actor=nobody&cursor=${nothing.nextCursor}`)).toEqual({ entries: [] });
  const halfway = await audit(`?jobId=${rare}`);
  const { entries } = await audit(`?jobId=${rare}&cursor=${halfway.nextCursor}`);
  expect([...halfway.entries, ...entries].map(({ jobId }) => jobId)).toEqual([rare, rare, rare]);
});

test('addresses are not shown longer than they are kept', async () => {
  const { time } = gateway.clock;
  await exported(acme.id, new Date(time.getTime() - 399 * dayMs).toISOString());
  await exported(acme.id, new Date(time.getTime() - 400 * dayMs).toISOString());
  expect(actions(await audit('?action=link'))).toHaveLength(1);
  expect(actions(await audit('?action=export.completed'))).toHaveLength(2);
  // Records of links are kept from 2025-01-26 on, so January's figures are incomplete.
  const { months } = await usage('?months=2025-01..2025-02');
  expect(months[0]?.total).toMatchObject({ exportsCompleted: 2 });
  expect(months[0]?.total).not.toHaveProperty('linksSigned');
  expect(months[1]?.total).toMatchObject({ linksSigned: 0 });
});

test('usage of a month by day, and of several months', async () => {
  await published(acme.id, 'v1');
  await exported(acme.id, '2026-03-01T12:00:00.000Z');
  await exported(acme.id, '2026-03-04T12:00:00.000Z');
  await exported(acme.id, '2026-01-31T23:59:58.000Z');
  for (const [n, organization] of [acme.id, acme.id, acme.id, other.id].entries()) {
    const time = `2026-03-0${n === 0 ? 4 : 5}T12:00:00.000Z`;
    await threadWriter(gateway.bus.threads, organization).answered(`th_${n}`, time, { messageId: `msg_${n}` });
  }
  await gateway.bus.projected();
  const expected = {
    month: '2026-03',
    total: {
      exportsStarted: 2,
      exportsReplayed: 0,
      exportsCompleted: 2,
      exportsFailed: 0,
      exportsCancelled: 0,
      pagesExported: 14,
      bundleBytes: 2_000,
      linksSigned: 2,
      publications: 1,
      pagesPublished: 3,
      publishedBytes: 500,
      questions: 3,
      tokens: 30,
    },
    days: [
      { day: '2026-03-01', figures: expect.objectContaining({ publications: 1, exportsStarted: 1, linksSigned: 1 }) },
      { day: '2026-03-04', figures: expect.objectContaining({ exportsStarted: 1, questions: 1, tokens: 10 }) },
      { day: '2026-03-05', figures: { questions: 2, tokens: 20 } },
    ],
  };
  expect(await usage()).toEqual({ organization: acme.id, months: [expected] });
  expect(await usage('?month=2026-03')).toEqual(await usage());
  const { months } = await usage('?months=2025-12..2026-03');
  expect(months.map(({ month, total }) => [month, total.exportsStarted, total.exportsCompleted])).toEqual([
    ['2025-12', 0, 0],
    ['2026-01', 1, 0],
    ['2026-02', 0, 1],
    ['2026-03', 2, 2],
  ]);
  // Conversations of December are no longer kept completely.
  expect(months.map(({ total }) => total.questions)).toEqual([undefined, 0, 0, 3]);
});

test('without the bus it is unavailable, also as lines', async () => {
  await audit();
  gateway.bus.away = true;
  for (const accept of ['application/json', 'application/x-ndjson']) {
    const answer = await get('/v1/audit', { accept });
    expect([answer.statusCode, answer.json().code]).toEqual([503, 'unavailable']);
  }
  expect((await get('/v1/usage')).statusCode).toBe(503);
  gateway.bus.away = false;
});

test('limits are those of the plan, each once, with what is left of them', async () => {
  const limits = async () => limitListSchema.parse((await get('/v1/limits')).json());
  const named = async (wanted: string) => (await limits()).limits.find(({ name }) => name === wanted);
  const { limits: all, plan, activeExports } = await limits();
  expect([plan, activeExports]).toEqual(['enterprise', 20]);
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  expect(await named('starts')).toEqual({ name: 'starts', requests: 60, windowSeconds: 3_600, remaining: 60 });
  expect(await named('tokens')).toBeUndefined();
  const before = (await named('keys'))?.remaining ?? 0;
  await gateway.app.inject({
    method: 'POST',
    url: '/v1/api-keys',
    headers: bearer(acme.adminKey),
    payload: { kind: 'assistant' },
  });
  expect((await named('keys'))?.remaining).toBe(before - 1);
  expect((await named('keys'))?.remaining).toBe(before - 1);
});

test('the budget of model tokens is among the limits where a plan has one', async () => {
  const frugal = await gatewayHarness({ BINDERY_LIMIT_TOKENS_PER_DAY: 'enterprise=1000' });
  const { adminKey } = await createOrganization(frugal);
  const { limits } = limitListSchema.parse(
    (await frugal.app.inject({ url: '/v1/limits', headers: bearer(adminKey) })).json(),
  );
  expect(limits.find(({ name }) => name === 'tokens')).toEqual({
    ...{ name: 'tokens', requests: 1_000, windowSeconds: 86_400, remaining: 1_000 },
  });
  await frugal.close();
});
