import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { contentListSchema } from '#shared/interfaces/http/content.ts';
import { siteModelKey } from '#shared/contracts/stored-objects.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { contentServices } from '../../../test/support/content-services.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  type ServiceParts,
  type TestOrganization,
} from '../../../test/support/gateway-harness.ts';
import { exportCommit } from '../../../test/support/make-commit.ts';
import { packTar } from '../../../test/support/archives.ts';

const docsJson = JSON.stringify({
  name: 'Acme',
  theme: 'mint',
  colors: { primary: '#112233' },
  navigation: { pages: ['index', 'guides/x'] },
});
const project = {
  'docs.json': docsJson,
  'index.mdx': '---\ntitle: Start\n---\n\nHello.\n',
  'guides/x.mdx': '---\ntitle: X\n---\n\nMore.\n',
};

let gateway: GatewayHarness;
let acme: TestOrganization;
let url: string;
let uploadFolder: string;

beforeAll(async () => {
  gateway = await gatewayHarness({}, async (parts: ServiceParts) => {
    uploadFolder = `${parts.folder}/uploads-of-tests`;
    return await contentServices(parts);
  });
  acme = await createOrganization(gateway);
  url = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
});

afterAll(() => gateway.close());

const publish = (body: Buffer<ArrayBuffer>, query = '', headers: Record<string, string> = {}) =>
  fetch(`${url}/v1/domains/docs/content${query}`, {
    method: 'PUT',
    headers: { ...bearer(acme.adminKey), 'content-type': 'application/gzip', ...headers },
    body,
    duplex: 'half',
  });
const call = async (method: string, path: string) => {
  const answer = await fetch(`${url}${path}`, { method, headers: bearer(acme.adminKey) });
  return {
    status: answer.status,
    body: answer.status === 204 ? undefined : ((await answer.json()) as Record<string, never>),
  };
};

/** Resolves when this number of uploads is being unpacked. */
const uploadsOnDisk = (count: number) =>
  vi.waitUntil(async () => (await readdir(uploadFolder)).length === count, { timeout: 60_000 });

test('a project is published, listed at once, and the same files again are the same content', async () => {
  const first = await publish(await packTar(project), '?version=v1');
  expect(first.status).toBe(200);
  const published = (await first.json()) as { contentVersion: string };
  expect(published).toEqual({
    contentVersion: expect.stringMatching(/^cv_[0-9a-f]{32}$/),
    version: 'v1',
    pages: 2,
    diagnostics: expect.any(Array),
  });
  expect(
    await gateway.objectStore.head(
      siteModelKey({ organization: acme.id, domain: 'docs', contentVersion: published.contentVersion }),
    ),
  ).toBeDefined();

  const folded = Object.fromEntries(Object.entries(project).map(([path, text]) => [`my-docs/${path}`, text]));
  const again = await publish(await packTar(folded), '?version=v2');
  expect(await again.json()).toMatchObject({ contentVersion: published.contentVersion, version: 'v2' });
  expect((await call('GET', '/v1/domains/docs/content')).body).toMatchObject({
    latest: published.contentVersion,
    versions: [{ contentVersion: published.contentVersion, pages: 2, labels: ['v1', 'v2'], latest: true }],
  });
  expect(await readdir(uploadFolder)).toEqual([]);
});

test('versions are promoted and deleted, but not while they are in use', async () => {
  const older = (await (await publish(await packTar(project))).json()) as { contentVersion: string };
  const changed = { ...project, 'index.mdx': 'New.\n' };
  const newer = (await (await publish(await packTar(changed))).json()) as { contentVersion: string };
  const path = (version: string) => `/v1/domains/docs/content/${version}`;
  expect(await call('DELETE', path(newer.contentVersion))).toMatchObject({ status: 409, body: { code: 'in_use' } });
  expect(await call('DELETE', path(older.contentVersion))).toMatchObject({
    status: 409,
    body: { error: expect.stringContaining('label') },
  });
  const promoted = await call('POST', `${path(older.contentVersion)}/promote`);
  expect(promoted).toMatchObject({ status: 200, body: { latest: older.contentVersion } });
  expect((await call('DELETE', path(newer.contentVersion))).status).toBe(204);
  expect((await call('DELETE', path(newer.contentVersion))).status).toBe(404);
});

test('a label is removed, and its content version stays until it is deleted', async () => {
  const versions = async () => {
    const { body } = await call('GET', '/v1/domains/docs/content');
    return contentListSchema.parse(body).versions;
  };
  const before = await versions();
  const [label = ''] = before.flatMap(({ labels }) => labels);
  const path = `/v1/domains/docs/content/labels/${label}`;
  expect((await call('DELETE', path)).status).toBe(204);
  const after = await versions();
  expect(after.flatMap(({ labels }) => labels)).not.toContain(label);
  expect(after).toHaveLength(before.length);
  expect(await call('DELETE', path)).toMatchObject({ status: 404, body: { error: expect.stringContaining(label) } });
});

test.each([
  ['no archive', () => Buffer.from('hello'), 'gzip'],
  ['an empty body', () => Buffer.alloc(0), 'empty'],
  ['no docs.json', () => packTar({ 'index.mdx': 'x' }), 'docs.json'],
  ['a name that climbs', () => packTar({ ...project, '../evil.mdx': 'x' }), 'evil.mdx'],
  ['a name of 2 MB', () => packTar({ ...project, [`${'x'.repeat(2_000_000)}.mdx`]: 'x' }), 'longer than 1024 bytes'],
  ['a link', () => packTar(project, [{ name: 'l', type: 'symlink', linkname: '/etc/passwd' }]), '"l"'],
  ['a docs.json that is no JSON', () => packTar({ ...project, 'docs.json': '{' }), 'docs.json'],
])('%s is refused with what is wrong', async (_name, body, named) => {
  const answer = await publish(await body());
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ code: 'invalid_project', error: expect.stringContaining(named) });
  expect(await readdir(uploadFolder)).toEqual([]);
});

test('an upload that is refused in its middle still gets its answer', async () => {
  const archive = await packTar({ '../evil.mdx': randomBytes(20_000_000) });
  const answer = await publish(archive);
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ code: 'invalid_project' });
});

test('a client that goes away in the middle of an upload leaves nothing behind', async () => {
  const archive = await packTar({ ...project, 'big.png': randomBytes(5_000_000) });
  const controller = new AbortController();
  const upload = fetch(`${url}/v1/domains/docs/content`, {
    method: 'PUT',
    headers: { ...bearer(acme.adminKey), 'content-type': 'application/gzip' },
    body: new ReadableStream({
      start: (stream) => stream.enqueue(archive.subarray(0, 1_000_000)),
    }),
    duplex: 'half',
    signal: controller.signal,
  });
  await uploadsOnDisk(1);
  controller.abort();
  await expect(upload).rejects.toThrow('abort');
  await uploadsOnDisk(0);
  expect((await publish(await packTar(project))).status).toBe(200);
});

test('one organization leaves room for others: its further uploads are asked to come again', async () => {
  const globex = await createOrganization(gateway, 'Globex');
  const upload = async ({ adminKey }: TestOrganization, body: NonNullable<RequestInit['body']>, signal?: AbortSignal) =>
    await fetch(`${url}/v1/domains/docs/content`, {
      method: 'PUT',
      headers: { ...bearer(adminKey), 'content-type': 'application/gzip' },
      body,
      duplex: 'half',
      ...(signal === undefined ? {} : { signal }),
    });
  const archive = await packTar(project);
  const controller = new AbortController();
  const endless = new ReadableStream({ start: (stream) => stream.enqueue(archive.subarray(0, 100)) });
  const slow = upload(acme, endless, controller.signal).catch((error: unknown) => error);
  await uploadsOnDisk(1);

  const refused = await upload(acme, archive);
  expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([503, 5]);
  expect(await refused.json()).toMatchObject({
    code: 'unavailable',
    error: 'This organization publishes 1 project already. Try again when one of them is done.',
  });
  expect((await upload(globex, archive)).status).toBe(200);

  controller.abort();
  await slow;
  await uploadsOnDisk(0);
  expect((await upload(acme, archive)).status).toBe(200);
});

test('other media types are refused', async () => {
  const answer = await publish(Buffer.from('{}'), '', { 'content-type': 'application/json' });
  expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([415, 'unsupported_media_type']);
});

test('a bundle is downloaded by its link, whole and in parts; the access is recorded', async () => {
  await publish(await packTar(project));
  const started = await fetch(`${url}/v1/static-export/jobs`, {
    method: 'POST',
    headers: { ...bearer(acme.adminKey), 'content-type': 'application/json' },
    body: JSON.stringify({ domain: 'docs' }),
  });
  const { jobId } = (await started.json()) as { jobId: string };
  const bundlePath = `/v1/static-export/jobs/${jobId}/bundle`;
  expect(await call('POST', bundlePath)).toMatchObject({ status: 409, body: { code: 'not_completed' } });

  const bytes = randomBytes(100_000);
  const sha256 = 'ab'.repeat(32);
  const bundle = { key: `bundles/${acme.id}/docs/x.tar.gz`, sizeBytes: bytes.length, sha256 };
  await gateway.objectStore.put(bundle.key, bytes, { contentType: 'application/gzip', metadata: { sha256 } });
  const previous = await gateway.bus.exports.last(exportLogSubject(acme.id, jobId));
  const state = { ...previous!.commit.data.state, phase: 'completed' as const, progress: 100, bundle };
  await gateway.bus.exports.append(exportCommit(state, previous), { sequence: previous!.sequence });

  const link = (await call('POST', bundlePath)).body as unknown as { bundleUrl: string; expiresAt: string };
  expect(link).toEqual({
    jobId,
    bundleUrl: expect.stringContaining('http://gateway.test/_objects/'),
    expiresAt: '2026-03-01T11:00:00.000Z',
    sizeBytes: bytes.length,
    sha256,
  });
  expect(gateway.bus.recorded.access).toMatchObject([{ jobId, actor: { id: acme.adminKeyId }, bundleSha256: sha256 }]);

  const download = link.bundleUrl.replace('http://gateway.test', url);
  const whole = await fetch(download);
  expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true);
  expect(whole.headers.get('x-amz-meta-sha256')).toBe(sha256);
  expect(whole.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
  expect(whole.headers.get('x-content-type-options')).toBe('nosniff');
  const rest = await fetch(download, { headers: { range: 'bytes=99990-' } });
  expect([rest.status, rest.headers.get('content-range')]).toEqual([206, 'bytes 99990-99999/100000']);
  expect(Buffer.from(await rest.arrayBuffer()).equals(bytes.subarray(99_990))).toBe(true);
  expect((await fetch(download, { headers: { range: 'bytes=100000-' } })).status).toBe(416);
  expect((await fetch(download, { method: 'HEAD' })).headers.get('content-length')).toBe('100000');
  expect((await fetch(download.replace('docs', 'docz'))).status).toBe(404);
  gateway.clock.time = new Date('2026-03-01T11:00:00.000Z');
  expect(await (await fetch(download)).json()).toMatchObject({
    code: 'not_found',
    error: expect.stringContaining('expired'),
  });

  await gateway.objectStore.remove(bundle.key);
  expect(await call('POST', bundlePath)).toMatchObject({
    status: 404,
    body: { error: expect.stringContaining('removed') },
  });
});
