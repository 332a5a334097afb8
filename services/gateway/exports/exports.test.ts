import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { listPartKey, withPartCount } from '#shared/interfaces/read-models.ts';
import { archivedJobKey, siteModelKey } from '#shared/contracts/stored-objects.ts';
import { logWithArchive } from '#shared/messaging/log/archived-jobs.ts';
import type { ContentEvent } from '#shared/aggregates/content/content.ts';
import type { ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import { UnreadableDocument } from '#shared/messaging/parse-message.ts';
import { contentLogSubject, exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  type TestOrganization,
} from '../../../test/support/gateway-harness.ts';
import { sitePages } from './site-pages.ts';
import { contentCommit, exportCommit } from '../../../test/support/make-commit.ts';

const jobs = '/v1/static-export/jobs';
const one = `cv_${'1'.repeat(32)}`;
const two = `cv_${'2'.repeat(32)}`;

let gateway: GatewayHarness;
let acme: TestOrganization;

beforeEach(async () => {
  gateway = await gatewayHarness();
  acme = await createOrganization(gateway);
});

afterEach(() => gateway.close());

const request = (method: 'GET' | 'POST', url: string, payload?: object, headers: Record<string, string> = {}) =>
  gateway.app.inject({
    method,
    url,
    headers: { ...bearer(acme.adminKey), ...headers },
    ...(payload === undefined ? {} : { payload }),
  });
const start = (payload: object = { domain: 'docs' }, headers: Record<string, string> = {}) =>
  request('POST', jobs, payload, headers);

async function publish(contentVersion: string, label?: string, organization = acme.id): Promise<void> {
  const event: ContentEvent = {
    type: 'ContentPublished',
    version: 1,
    data: {
      organization,
      domain: 'docs',
      contentVersion,
      pageCount: 2,
      fileCount: 3,
      sizeBytes: 9,
      ...(label ? { label } : {}),
    },
  };
  const previous = await gateway.bus.content.last(contentLogSubject(organization, 'docs'));
  await gateway.bus.content.append(contentCommit(event, previous), { sequence: previous?.sequence ?? 0 });
  const pages = [{ path: 'index' }, { path: 'guides/x', groups: ['staff', 'partners'] }];
  const model = JSON.stringify({ pages });
  await gateway.objectStore.put(siteModelKey({ organization, domain: 'docs', contentVersion }), Buffer.from(model));
}

/** Advances a job as the orchestrator would. */
async function advance(jobId: string, changes: Partial<ExportJobState>): Promise<void> {
  const previous = await gateway.bus.exports.last(exportLogSubject(acme.id, jobId));
  if (previous === undefined) throw new Error('no such job');
  const commit = exportCommit({ ...previous.commit.data.state, ...changes }, previous);
  await gateway.bus.exports.append(commit, { sequence: previous.sequence });
  await gateway.bus.projected();
}

const completed = { phase: 'completed', progress: 100, completedAt: '2026-03-01T10:01:00.000Z' } as const;

describe('start', () => {
  test('answers 202 with the whole job, over the latest content', async () => {
    await publish(one);
    await publish(two);
    const answer = await start({ domain: 'docs.acme.test', version: 'nightly' });
    expect(answer.statusCode).toBe(202);
    expect(answer.json()).toEqual({
      jobId: expect.stringMatching(/^se_[0-9A-Za-z]{22}$/),
      domain: 'docs',
      version: 'nightly',
      contentVersion: two,
      status: 'queued',
      progress: 0,
      pageCount: 0,
      revision: 1,
      createdAt: '2026-03-01T10:00:00.000Z',
      updatedAt: '2026-03-01T10:00:00.000Z',
    });
    expect(answer.headers.location).toBe(`${jobs}/${answer.json().jobId}`);
  });

  test('takes the content of a label', async () => {
    await publish(one, 'v1');
    await publish(two, 'v2');
    expect((await start({ domain: 'docs', version: 'v1' })).json()).toMatchObject({ contentVersion: one });
  });

  test('stores the pages that were asked for, and names those that are none', async () => {
    await publish(one);
    const answer = await start({ domain: 'docs', paths: ['/guides/x', '/', 'guides/x'] });
    const { commit } = (await gateway.bus.exports.last(exportLogSubject(acme.id, answer.json().jobId))) ?? {};
    const stored = await gateway.objectStore.get(commit?.data.state.options.selectionKey ?? '');
    expect(JSON.parse(String(stored && Buffer.from(stored)))).toEqual({ version: 1, paths: ['guides/x', 'index'] });
    const wrong = await start({ domain: 'docs', paths: ['index', 'guides/nowhere'] });
    expect(wrong.statusCode).toBe(400);
    expect(wrong.json()).toMatchObject({
      code: 'invalid_request',
      error: expect.stringContaining('"guides/nowhere"'),
      fields: [{ path: 'paths.1' }],
    });
  });

  const optionsOf = async (answer: { json: () => { jobId: string } }) =>
    (await gateway.bus.exports.last(exportLogSubject(acme.id, answer.json().jobId)))?.commit.data.state.options;

  test('records the public address, the named assistant key and features, and a replay takes them over', async () => {
    await gateway.close();
    gateway = await gatewayHarness({ BINDERY_PUBLIC_URL: 'https://bindery.test/' });
    acme = await createOrganization(gateway);
    await publish(one);
    const features = { search: 'bundle', playground: false };
    const answer = await start({ domain: 'docs', assistantKey: acme.assistantKey, features });
    const site = { serverUrl: 'https://bindery.test', assistantKey: acme.assistantKey, features };
    expect(await optionsOf(answer)).toMatchObject({ site });
    await advance(answer.json().jobId, completed);
    const replayed = await request('POST', `${jobs}/${answer.json().jobId}/replay`);
    expect(await optionsOf(replayed)).toMatchObject({ site });
    const history = await request('GET', `${jobs}/${answer.json().jobId}/events`);
    expect(history.body).toContain('"serverUrl"');
    expect(history.body).not.toContain('svc_dsc_');
  });

  test('runs scripts of the project unless the request says no, and a replay takes that over', async () => {
    await publish(one);
    expect(await optionsOf(await start({ domain: 'docs' }))).toMatchObject({ allowTenantScripts: true });
    const without = await start({ domain: 'docs', allowTenantScripts: false });
    expect(await optionsOf(without)).toMatchObject({ allowTenantScripts: false });
    await advance(without.json().jobId, completed);
    const replayed = await request('POST', `${jobs}/${without.json().jobId}/replay`);
    expect(await optionsOf(replayed)).toMatchObject({ allowTenantScripts: false });
  });

  test('takes no key but a good assistant key of the organization, and never says it', async () => {
    await publish(one);
    const other = await createOrganization(gateway, 'Other');
    const create = async (payload: object): Promise<{ id: string; key: string }> =>
      (await request('POST', '/v1/api-keys', payload)).json();
    const revoked = await create({ kind: 'assistant', name: 'old' });
    await gateway.app.inject({ method: 'DELETE', url: `/v1/api-keys/${revoked.id}`, headers: bearer(acme.adminKey) });
    const forServers = await create({ kind: 'assistant', scopes: ['read', 'proxy'] });
    await gateway.bus.projected();
    const withKey = (assistantKey: string) => start({ domain: 'docs', assistantKey });
    for (const key of [
      revoked.key,
      other.assistantKey,
      acme.adminKey,
      `${acme.assistantKey.slice(0, -1)}_`,
      'svc_dsc_',
      forServers.key,
    ]) {
      const refused = await withKey(key);
      expect(refused.statusCode).toBe(400);
      expect(refused.json()).toMatchObject({ code: 'invalid_request', fields: [{ path: 'assistantKey' }] });
      expect(refused.body).not.toContain(key);
    }
    // Readers use the key from elsewhere, so its addresses are not compared with the client that starts the export.
    const elsewhere = await create({ kind: 'assistant', name: 'far', allowedAddresses: ['192.0.2.0/24'] });
    expect((await withKey(elsewhere.key)).statusCode).toBe(202);
  });

  test('an air-gapped site is told of no server, and cannot be asked to call one', async () => {
    await publish(one);
    const airGapped = (more: object) => start({ domain: 'docs', deployment: 'air-gapped', ...more });
    expect(await optionsOf(await airGapped({}))).not.toHaveProperty('site');
    const features = { search: 'bundle', playground: true };
    expect((await optionsOf(await airGapped({ features })))?.site).toEqual({ features });
    const refused = await airGapped({
      assistantKey: acme.assistantKey,
      features: { search: 'server', assistant: true },
    });
    expect(refused.statusCode).toBe(400);
    expect(refused.json().fields).toMatchObject([
      { path: 'assistantKey' },
      { path: 'features.search' },
      { path: 'features.assistant' },
    ]);
  });

  test('names groups that no page is restricted to', async () => {
    await publish(one);
    expect((await start({ domain: 'docs', groups: ['staff', 'partners'] })).statusCode).toBe(202);
    const wrong = await start({ domain: 'docs', groups: ['staff', 'Partner', 'guests'] });
    expect(wrong.statusCode).toBe(400);
    expect(wrong.json()).toMatchObject({
      code: 'invalid_request',
      error: `The field "groups.1" names "Partner", which no page is restricted to; did you mean "partners". Groups of content version ${one}: "partners", "staff".`,
      fields: [{ path: 'groups.1' }, { path: 'groups.2', message: 'names "guests", which no page is restricted to' }],
    });
  });

  test('the same request under the same idempotency key is the same job, another one a conflict', async () => {
    await publish(one);
    const headers = { 'idempotency-key': 'build-17' };
    const first = await start({ domain: 'docs', groups: ['staff', 'partners'] }, headers);
    await publish(two);
    const again = await start({ domain: 'docs.acme.test', groups: ['partners', 'staff'] }, headers);
    expect(again.statusCode).toBe(202);
    expect(again.json()).toEqual(first.json());
    const other = await start({ domain: 'docs', groups: ['staff'] }, headers);
    expect(other.statusCode).toBe(409);
    expect(other.json().code).toBe('idempotency_conflict');
  });

  test('two at the same moment under one idempotency key are one job', async () => {
    await publish(one);
    const headers = { 'idempotency-key': 'build-18' };
    const answers = await Promise.all([
      start(undefined, headers),
      start(undefined, headers),
      start(undefined, headers),
    ]);
    expect(new Set(answers.map((answer) => answer.json().jobId)).size).toBe(1);
    expect(answers.map((answer) => answer.statusCode)).toEqual([202, 202, 202]);
  });

  test('more active jobs than allowed are refused', async () => {
    await gateway.close();
    gateway = await gatewayHarness({ BINDERY_LIMIT_ACTIVE_JOBS: 'free=1,enterprise=2' });
    acme = await createOrganization(gateway);
    await publish(one);
    const first = await start();
    await start();
    await gateway.bus.projected();
    const refused = await start();
    expect(refused.statusCode).toBe(429);
    expect(refused.headers['retry-after']).toBeDefined();
    await advance(first.json().jobId, completed);
    expect((await start()).statusCode).toBe(202);
  });

  test('requests at the same moment start no more jobs than allowed, however far the read model is behind', async () => {
    await gateway.close();
    gateway = await gatewayHarness({ BINDERY_LIMIT_ACTIVE_JOBS: '3' });
    acme = await createOrganization(gateway);
    await publish(one);
    gateway.bus.memoryReaders.projectorExports.hold = true;
    const answers = await Promise.all(Array.from({ length: 12 }, () => start()));
    const accepted = answers.filter(({ statusCode }) => statusCode === 202);
    expect(accepted).toHaveLength(3);
    expect(answers.filter(({ statusCode }) => statusCode === 429)).toHaveLength(9);
    gateway.bus.memoryReaders.projectorExports.hold = false;
    await advance(accepted[0]?.json().jobId, completed);
    const again = await Promise.all(Array.from({ length: 4 }, () => start()));
    expect(again.filter(({ statusCode }) => statusCode === 202)).toHaveLength(1);
    expect(again.filter(({ statusCode }) => statusCode === 429)).toHaveLength(3);
  });

  test('a request that is refused takes no place', async () => {
    await gateway.close();
    gateway = await gatewayHarness({ BINDERY_LIMIT_ACTIVE_JOBS: '1' });
    acme = await createOrganization(gateway);
    expect((await start()).statusCode).toBe(404);
    await publish(one);
    expect((await start({ domain: 'docs', paths: ['nowhere'] })).statusCode).toBe(400);
    expect((await start()).statusCode).toBe(202);
  });

  test('a place whose gateway died before the request was stored is free after a minute', async () => {
    await gateway.close();
    gateway = await gatewayHarness({ BINDERY_LIMIT_ACTIVE_JOBS: '1' });
    acme = await createOrganization(gateway);
    await publish(one);
    const takenAt = gateway.clock.now().toISOString();
    await gateway.bus.exportPlaces.put(acme.id, { places: [{ jobId: `se_${'x'.repeat(22)}`, takenAt }] });
    expect((await start()).statusCode).toBe(429);
    gateway.clock.time = new Date(gateway.clock.time.getTime() + 61_000);
    expect((await start()).statusCode).toBe(202);
  });

  test('a job whose archived history is damaged holds no place', async () => {
    const gone = `se_${'x'.repeat(22)}`;
    await publish(one);
    Object.assign(gateway.bus.exports, logWithArchive({ ...gateway.bus.exports }, gateway.objectStore));
    await gateway.objectStore.put(archivedJobKey(acme.id, gone), Buffer.from('{ damaged'));
    await gateway.bus.exportPlaces.put(acme.id, {
      places: [{ jobId: gone, takenAt: '2025-03-01T10:00:00.000Z' }],
    });
    expect((await start()).statusCode).toBe(202);
    const stored = await gateway.bus.exportPlaces.get(acme.id);
    expect(stored?.document.places.map(({ jobId }) => jobId)).not.toContain(gone);
  });

  test('a list of places that cannot be read begins anew', async () => {
    await publish(one);
    const revision = await gateway.bus.exportPlaces.put(acme.id, { places: [] });
    const unreadable = new UnreadableDocument('The document is wrong at "places".', revision ?? 0);
    vi.spyOn(gateway.bus.exportPlaces, 'get').mockRejectedValueOnce(unreadable);
    const started = await start();
    expect(started.statusCode).toBe(202);
    const { jobId } = started.json();
    expect((await gateway.bus.exportPlaces.get(acme.id))?.document.places).toMatchObject([{ jobId }]);
  });

  test('a place that was taken by a clock that was ahead is free as soon as any other', async () => {
    await gateway.close();
    gateway = await gatewayHarness({ BINDERY_LIMIT_ACTIVE_JOBS: '1' });
    acme = await createOrganization(gateway);
    await publish(one);
    await gateway.bus.exportPlaces.put(acme.id, {
      places: [{ jobId: `se_${'x'.repeat(22)}`, takenAt: '2036-03-01T10:00:00.000Z' }],
    });
    expect((await start()).statusCode).toBe(202);
  });
});

describe('status', () => {
  test('shows a job before and after the read model has it', async () => {
    await publish(one);
    const reader = gateway.bus.memoryReaders.projectorExports;
    reader.hold = true;
    const { jobId } = (await start()).json();
    expect((await request('GET', `${jobs}/${jobId}`)).json()).toMatchObject({ jobId, status: 'queued' });
    reader.hold = false;
    await advance(jobId, { phase: 'rendering', planHash: 'f'.repeat(64), pageTotal: 8, pageCount: 3, progress: 33 });
    expect((await request('GET', `${jobs}/${jobId}`)).json()).toMatchObject({
      status: 'running',
      progress: 33,
      pageCount: 3,
      pageTotal: 8,
      revision: 2,
    });
  });

  test('?at= goes back by revision or time', async () => {
    await publish(one);
    const { jobId } = (await start()).json();
    await advance(jobId, { phase: 'rendering', progress: 10 });
    await advance(jobId, completed);
    const at = async (point: string) =>
      (await request('GET', `${jobs}/${jobId}?at=${encodeURIComponent(point)}`)).json();
    expect(await at('2')).toMatchObject({ revision: 2, status: 'running', progress: 10 });
    expect(await at('2026-03-01T10:00:02.500Z')).toMatchObject({ revision: 2 });
    expect(await at('2026-03-01T11:00:02.500+01:00')).toMatchObject({ revision: 2 });
    expect(await at('9')).toMatchObject({ code: 'not_found', error: expect.stringContaining('its newest is 3') });
    expect(await at('2026-02-01')).toMatchObject({ code: 'not_found' });
    expect(await at('yesterday')).toMatchObject({ code: 'invalid_request', fields: [{ path: 'at' }] });
  });

  test('as a stream it sends every change and ends with the job', async () => {
    await publish(one);
    const { jobId } = (await start()).json();
    const url = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
    const answer = await fetch(`${url}${jobs}/${jobId}`, {
      headers: { ...bearer(acme.adminKey), accept: 'text/event-stream' },
    });
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    const seen: { status: string; progress: number }[] = [];
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of answer.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) seen.push(JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? '{}'));
      if (seen.at(-1)?.status === 'queued') await advance(jobId, { phase: 'rendering', progress: 50 });
      else if (seen.at(-1)?.status === 'running') await advance(jobId, completed);
    }
    expect(seen.map(({ status, progress }) => [status, progress])).toEqual([
      ['queued', 0],
      ['running', 50],
      ['completed', 100],
    ]);
  });

  test('HEAD of the stream follows nothing', async () => {
    await publish(one);
    const { jobId } = (await start()).json();
    const watch = vi.spyOn(gateway.context.jobStatusFeed, 'watch');
    const headers = { ...bearer(acme.adminKey), accept: 'text/event-stream' };
    const answer = await gateway.app.inject({ method: 'HEAD', url: `${jobs}/${jobId}`, headers });
    expect([answer.statusCode, answer.headers['content-type'], answer.body]).toEqual([200, 'text/event-stream', '']);
    expect(watch).not.toHaveBeenCalled();
  });
});

describe('list', () => {
  test('is newest first, in pages, with filters', async () => {
    await publish(one);
    const ids: string[] = [];
    for (let hour = 0; hour < 5; hour += 1) {
      gateway.clock.time = new Date(Date.UTC(2026, 2, 1, 20 + hour * 2));
      ids.push((await start()).json().jobId);
    }
    await advance(ids[1] ?? '', completed);
    const list = async (query: string) => (await request('GET', `${jobs}?${query}`)).json();
    const first = await list('limit=2');
    expect(first.jobs.map((job: { jobId: string }) => job.jobId)).toEqual([ids[4], ids[3]]);
    const second = await list(`limit=2&cursor=${first.nextCursor}`);
    expect(second.jobs.map((job: { jobId: string }) => job.jobId)).toEqual([ids[2], ids[1]]);
    const third = await list(`limit=2&cursor=${second.nextCursor}`);
    expect(third.jobs.map((job: { jobId: string }) => job.jobId)).toEqual([ids[0]]);
    expect(third.nextCursor).toBeUndefined();
    expect((await list('status=completed')).jobs).toMatchObject([{ jobId: ids[1], status: 'completed' }]);
    expect((await list('domain=docs.acme.test')).jobs).toHaveLength(5);
    expect((await list('since=2026-03-02')).jobs).toHaveLength(3);
    expect(await list('cursor=nonsense')).toMatchObject({ code: 'invalid_request', fields: [{ path: 'cursor' }] });
  });

  test('a search for rare jobs answers after a limit of reads, with a cursor to continue', async () => {
    await publish(one);
    const { jobId } = (await start()).json();
    const { jobDays, jobList } = gateway.bus.readModels;
    const day = '2026-03-02';
    const partCount = 90;
    const entry = (n: number) => ({
      jobId: `se_${String(n).padStart(22, '0')}`,
      createdAt: `${day}T10:00:00.000Z`,
      ...{ domain: 'docs', revision: 9, status: 'completed' },
    });
    await jobDays.put(acme.id, withPartCount((await jobDays.get(acme.id))?.document, day, partCount));
    for (let part = 0; part < partCount; part += 1) {
      const entries = Array.from({ length: 250 }, (_, n) => entry(part * 250 + n));
      await jobList.put(listPartKey(acme.id, day, part), { entries });
    }
    const reads = vi.spyOn(jobList, 'get');
    const first = (await request('GET', `${jobs}?status=queued`)).json();
    expect(first).toEqual({ jobs: [], nextCursor: expect.any(String) });
    expect(reads.mock.calls.length).toBeLessThan(partCount);
    const second = (await request('GET', `${jobs}?status=queued&cursor=${first.nextCursor}`)).json();
    expect(second).toEqual({ jobs: [expect.objectContaining({ jobId })] });
  });
});

describe('history', () => {
  test('has every event, without what is internal', async () => {
    await publish(one);
    const { jobId } = (await start({ domain: 'docs', paths: ['index'] })).json();
    await advance(jobId, { phase: 'closing' });
    const { events } = (await request('GET', `${jobs}/${jobId}/events`)).json();
    expect(events).toMatchObject([
      {
        revision: 1,
        type: 'ExportRequested',
        version: 1,
        actor: { kind: 'key', id: acme.adminKeyId },
        data: { jobId },
      },
      { revision: 2, type: 'RenderingFinished', actor: { kind: 'service', id: 'orchestrator' } },
    ]);
    expect(JSON.stringify(events)).not.toMatch(/sequence|requestDigest|selections\//i);
    const lines = await request('GET', `${jobs}/${jobId}/events`, undefined, { accept: 'application/x-ndjson' });
    expect(lines.headers['content-type']).toContain('application/x-ndjson');
    expect(
      lines.body
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(events);
  });
});

describe('cancel', () => {
  test('reports who asked, may be repeated, and comes too late after the end', async () => {
    await publish(one);
    const { jobId } = (await start()).json();
    const cancel = () => request('POST', `${jobs}/${jobId}/cancel`);
    expect((await cancel()).statusCode).toBe(202);
    expect((await cancel()).json()).toMatchObject({ jobId, status: 'queued' });
    expect(gateway.bus.recorded.facts).toMatchObject([
      {
        type: 'CancelRequested',
        jobId,
        data: {
          actor: { kind: 'key', id: acme.adminKeyId },
          request: { id: expect.stringMatching(/^req_/), addressHash: expect.stringMatching(/^[0-9a-f]{64}$/) },
        },
      },
      { type: 'CancelRequested' },
    ]);
    await advance(jobId, { phase: 'cancelled', completedAt: completed.completedAt, error: 'Cancelled.' });
    expect((await cancel()).json()).toMatchObject({ status: 'failed', error: 'Cancelled.' });
    const other = (await start()).json().jobId;
    await advance(other, completed);
    const late = await request('POST', `${jobs}/${other}/cancel`);
    expect([late.statusCode, late.json().code]).toEqual([409, 'job_ended']);
  });
});

describe('replay', () => {
  test('is a new job over the same content and options', async () => {
    await publish(one);
    const { jobId } = (await start({ domain: 'docs', version: 'v1', onPageError: 'report' })).json();
    const replay = () => request('POST', `${jobs}/${jobId}/replay`);
    expect((await replay()).json().code).toBe('not_completed');
    await advance(jobId, completed);
    await publish(two);
    const answer = await replay();
    expect(answer.statusCode).toBe(202);
    expect(answer.json()).toMatchObject({ replayOf: jobId, contentVersion: one, version: 'v1', status: 'queued' });
    const last = await gateway.bus.exports.last(exportLogSubject(acme.id, answer.json().jobId));
    expect(last?.commit.data.state.options.onPageError).toBe('report');
  });

  test('of content that was deleted is 404 with the reason', async () => {
    await publish(one);
    const { jobId } = (await start()).json();
    await advance(jobId, completed);
    await publish(two);
    const previous = await gateway.bus.content.last(contentLogSubject(acme.id, 'docs'));
    const event = {
      type: 'ContentDeleted',
      version: 1,
      data: { organization: acme.id, domain: 'docs', contentVersion: one },
    } as const;
    await gateway.bus.content.append(contentCommit(event, previous), { sequence: previous?.sequence ?? 0 });
    const answer = await request('POST', `${jobs}/${jobId}/replay`);
    expect(answer.statusCode).toBe(404);
    expect(answer.json().error).toContain('was deleted');
  });

  test('of replaced content works while its objects are stored', async () => {
    await publish(one);
    const { jobId } = (await start()).json();
    await advance(jobId, completed);
    await publish(two);
    const previous = await gateway.bus.content.last(contentLogSubject(acme.id, 'docs'));
    const event: ContentEvent = {
      type: 'ContentsEnded',
      version: 1,
      data: { organization: acme.id, domain: 'docs', contentVersions: [one] },
    };
    await gateway.bus.content.append(contentCommit(event, previous), { sequence: previous?.sequence ?? 0 });
    expect((await request('POST', `${jobs}/${jobId}/replay`)).statusCode).toBe(202);
    await gateway.objectStore.remove(siteModelKey({ organization: acme.id, domain: 'docs', contentVersion: one }));
    gateway.context.sitePages = sitePages(gateway.objectStore);
    const answer = await request('POST', `${jobs}/${jobId}/replay`);
    expect([answer.statusCode, answer.json().error]).toEqual([
      404,
      expect.stringContaining('was removed after its retention'),
    ]);
  });
});

test("another organization's job does not exist, whatever is asked of it", async () => {
  await publish(one);
  const { jobId } = (await start()).json();
  const other = await createOrganization(gateway, 'Other');
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/events'],
    ['GET', '?at=1'],
    ['POST', '/cancel'],
    ['POST', '/replay'],
    ['POST', '/bundle'],
  ] as const) {
    const answer = await gateway.app.inject({
      method,
      url: `${jobs}/${jobId}${path}`,
      headers: bearer(other.adminKey),
    });
    expect([path, answer.statusCode, answer.json().code]).toEqual([path, 404, 'not_found']);
  }
});
