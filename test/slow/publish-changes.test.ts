import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type ApiClient, apiClient, ApiFailure } from '#services/cli/api-client.ts';
import { lastPublication } from '#services/cli/last-publication.ts';
import { publishProject } from '#services/cli/publish-project.ts';
import { arrivedFilesPrefix, blobKey, readingsKey, siteModelKey } from '#shared/contracts/stored-objects.ts';
import { readArchive } from '#shared/export/bundle/read-archive.ts';
import type { MissingContents, PublishedContent } from '#shared/interfaces/http/content.ts';
import { fileListName, fileListText } from '#shared/interfaces/http/listed-files.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { packTar } from '../support/archives.ts';
import { contentServices } from '../support/content-services.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  operatorToken,
  type TestOrganization,
} from '../support/gateway-harness.ts';
import { newFolder } from '../support/new-folder.ts';

type Files = Record<string, string | Buffer>;

const project: Files = {
  'docs.json': JSON.stringify({
    name: 'Acme',
    theme: 'mint',
    colors: { primary: '#112233' },
    navigation: { pages: ['index', 'guides/x'] },
  }),
  'index.mdx': '# Start\n\n[x](/guides/x)\n',
  'guides/x.mdx': "import N from '/snippets/n.mdx'\n\n<N />\n",
  'snippets/n.mdx': 'A note.\n',
  'logo.svg': '<svg width="3" height="4"/>',
  'notes.psd': 'not a file of the site',
};
const changed: Files = { ...project, 'index.mdx': '# Start\n\nChanged.\n' };

let gateway: GatewayHarness;
let url: string;
let uploadFolder: string;
let acme: TestOrganization;
let client: ApiClient;
let folder: string;

beforeAll(async () => {
  gateway = await gatewayHarness({}, async (parts) => {
    uploadFolder = join(parts.folder, 'uploads-of-tests');
    return await contentServices(parts, { places: 3 });
  });
  url = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => gateway.close());

beforeEach(async ({ task }) => {
  acme = await createOrganization(gateway, `Acme ${task.id}`);
  await addDomain('site');
  client = apiClient(url, acme.adminKey);
  folder = newFolder();
});

async function addDomain(domain: string): Promise<void> {
  await gateway.app.inject({
    method: 'POST',
    url: `/v1/organizations/${acme.id}/domains`,
    headers: bearer(operatorToken),
    payload: { domain, hosts: [`${domain}.${acme.id}.test`] },
  });
}

async function write(files: Files): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

/** Runs `bindery publish` with these files, over a client that may be watched. */
async function publish(files: Files, over = client): Promise<PublishedContent> {
  await write(files);
  return await publishProject(over, { domain: 'docs', folder });
}

/** The plain archive of these files, as other programs send it. */
const publishWhole = async (files: Files, domain = 'docs'): Promise<PublishedContent> =>
  client.json(`/v1/domains/${domain}/content`, { method: 'PUT', body: streamOf(await packTar(files)) });

const streamOf = (bytes: Uint8Array): ReadableStream<Uint8Array> =>
  Readable.toWeb(Readable.from([bytes])) as ReadableStream<Uint8Array>;

const model = async (contentVersion: string, domain = 'docs') =>
  Buffer.from(
    (await gateway.objectStore.get(siteModelKey({ organization: acme.id, domain, contentVersion }))) ?? '',
  ).toString();

type Call = { what: string; names: string[] };

/** A client that records the names in the archives that it sends, without the list. `before` may do something first. */
function watched(before: (call: Call, number: number) => Promise<void> | void = () => {}) {
  const calls: Call[] = [];
  const over: ApiClient = {
    ...client,
    async json<T>(path: string, call: Parameters<ApiClient['json']>[1] = {}) {
      const bytes = call.body === undefined ? undefined : await buffer(Readable.fromWeb(call.body as never));
      const made = { what: path.split('/').at(-1) ?? '', names: bytes === undefined ? [] : await namesIn(bytes) };
      calls.push(made);
      await before(made, calls.length);
      return await client.json<T>(path, { ...call, ...(bytes === undefined ? {} : { body: streamOf(bytes) }) });
    },
  };
  return { over, calls };
}

async function namesIn(bytes: Uint8Array): Promise<string[]> {
  const budgets = { packedBytes: 1e9, unpackedBytes: 1e9, entries: 1e5, ratio: 1e5 };
  const names: string[] = [];
  for await (const { path } of readArchive(Readable.from([bytes]), budgets)) names.push(path);
  return names.filter((name) => name !== fileListName);
}

const listOf = (files: Files): string =>
  fileListText(
    Object.entries(files).map(([path, content]) => ({
      path,
      sha256: sha256Of(content),
      sizeBytes: Buffer.byteLength(content),
    })),
  );
const askMissing = async (files: Files, domain = 'docs'): Promise<string[]> => {
  const body = streamOf(await packTar({ [fileListName]: listOf(files) }));
  const answer = await client.json<MissingContents>(`/v1/domains/${domain}/content/missing`, { method: 'POST', body });
  return answer.missing;
};
/** Publishes these entries with a list that may be wrong. */
const publishListed = async (list: string, sent: Files, domain = 'docs'): Promise<PublishedContent> =>
  client.json(`/v1/domains/${domain}/content`, {
    method: 'PATCH',
    body: streamOf(await packTar({ [fileListName]: list, ...sent })),
  });

test('only the changed page is sent, and the content is the same as from the whole archive', async () => {
  await publish(project);
  const { over, calls } = watched();
  const published = await publish(changed, over);
  expect(calls).toEqual([
    { what: 'missing', names: [] },
    { what: 'content', names: ['index.mdx'] },
  ]);
  const whole = await publishWhole(changed, 'site');
  expect(published).toEqual(whole);
  expect(await model(published.contentVersion)).toBe(await model(whole.contentVersion, 'site'));
});

test('an unchanged project, and an earlier version of it, send the list alone', async () => {
  const first = await publish(project);
  const second = await publish(changed);
  const { over, calls } = watched();
  expect(await publish(changed, over)).toEqual(second);
  expect(await publish(project, over)).toEqual(first);
  expect(calls.flatMap(({ names }) => names)).toEqual([]);
  expect(await client.json('/v1/domains/docs/content')).toMatchObject({ latest: first.contentVersion });
});

test('files that move, and files with the same bytes, are sent at most once', async () => {
  await publish(project);
  const { over, calls } = watched();
  const { 'index.mdx': moved = '', ...others } = project;
  await publish({ ...others, 'index.mdx': 'New.\n', 'old/index.mdx': moved, 'guides/y.mdx': 'New.\n' }, over);
  expect(calls[1]?.names).toEqual(['guides/y.mdx']);
});

test('after a cut, files that had arrived are not sent again', async () => {
  const pictures = Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`p${at}.png`, randomBytes(200_000)]));
  const files = { ...project, ...pictures };
  let cuts = 0;
  const cutting: ApiClient = {
    ...client,
    async json<T>(path: string, call: Parameters<ApiClient['json']>[1] = {}) {
      if (call.method !== 'PATCH' || cuts > 0) return await client.json<T>(path, call);
      cuts += 1;
      const bytes = await buffer(Readable.fromWeb(call.body as never));
      const arriving = new Readable({ read() {} });
      arriving.push(bytes.subarray(0, bytes.length * 0.7));
      const sending = client.json<T>(path, { ...call, body: Readable.toWeb(arriving) as ReadableStream<Uint8Array> });
      const outcome = sending.catch((error: unknown) => error);
      const early = outcome.then((error) => {
        throw error;
      });
      await Promise.race([early, vi.waitUntil(async () => (await bytesOnDisk()) > 700_000, { timeout: 60_000 })]);
      arriving.destroy(new Error('the network is gone'));
      // The publisher stores the files that it had received.
      await vi.waitUntil(
        async () => (await keys(arrivedFilesPrefix({ organization: acme.id, domain: 'docs' }))).length > 0,
        {
          timeout: 60_000,
        },
      );
      return await early;
    },
  };
  const { over, calls } = watched();
  const published = await publish(files, {
    ...cutting,
    json: (path, call) => (cuts > 0 ? over : cutting).json(path, call),
  });
  expect(cuts).toBe(1);
  const sent = calls.find(({ what }) => what === 'content')?.names ?? [];
  expect(sent.length).toBeGreaterThan(0);
  expect(sent.length).toBeLessThan(Object.keys(files).length - 2);
  const whole = await publishWhole(files, 'site');
  expect(await model(published.contentVersion)).toBe(await model(whole.contentVersion, 'site'));
  for (const content of Object.values(pictures)) {
    const stored = await gateway.objectStore.get(blobKey(acme.id, sha256Of(content)));
    expect(content.equals(stored ?? Buffer.alloc(0))).toBe(true);
  }
  // Files that arrived for one domain are missing in another.
  await addDomain('third');
  expect(await askMissing(files, 'third')).toHaveLength(Object.keys(files).length);
});

/** Bytes of the uploads that the publisher has unpacked. */
async function bytesOnDisk(): Promise<number> {
  let bytes = 0;
  for (const file of await readdir(uploadFolder, { recursive: true }))
    bytes += (await stat(join(uploadFolder, file)).catch(() => undefined))?.size ?? 0;
  return bytes;
}

async function keys(prefix: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { key } of gateway.objectStore.list(prefix)) found.push(key);
  return found;
}

test('an older server gets the plain archive', async () => {
  const { over, calls } = watched(({ what }) => {
    if (what === 'missing') throw new ApiFailure('There is no such thing here.', 'not_found', 404);
  });
  await publish(project, over);
  expect(calls.at(-1)).toEqual({ what: 'content', names: Object.keys(project).toSorted() });
});

test('after a fault of the server the whole project is not sent, and changed files never count as a whole project', async () => {
  await publish(project);
  const { over, calls } = watched((_call, number) => {
    if (number === 2) throw new ApiFailure('The server has a fault.', 'internal_error', 500);
  });
  await expect(publish(changed, over)).rejects.toThrow('The server has a fault.');
  expect(calls.map(({ names }) => names)).toEqual([[], ['index.mdx']]);
  const body = async () => streamOf(await packTar({ [fileListName]: listOf(changed), ...changed }));
  const put = client.json('/v1/domains/docs/content', { method: 'PUT', body: await body() });
  await expect(put).rejects.toMatchObject({ code: 'invalid_project', message: expect.stringContaining('PATCH') });
});

test('a file of another domain or organization counts as missing, and its hash does not publish it', async () => {
  const secret = { 'secret.mdx': 'For members only.\n' };
  await publishWhole({ ...project, ...secret }, 'site');
  const globex = await createOrganization(gateway, `Globex ${acme.id}`);
  await publish(project);
  expect(await askMissing({ ...project, ...secret })).toEqual([sha256Of(secret['secret.mdx'])]);
  const refused = { code: 'contents_missing', status: 409 };
  await expect(publishListed(listOf({ ...project, ...secret }), {})).rejects.toMatchObject(refused);
  client = apiClient(url, globex.adminKey);
  await expect(publishListed(listOf(project), {})).rejects.toMatchObject(refused);
});

test.each<[string, string, Files, string]>([
  [
    'bytes of another hash',
    listOf(changed),
    { 'index.mdx': 'Other.\n' },
    '"index.mdx" has other bytes than the list of files says',
  ],
  [
    'a file that is not listed',
    listOf(project),
    { 'evil.mdx': 'x' },
    '"evil.mdx", which its list of files does not name',
  ],
  [
    'another size',
    listOf(changed).replace(/ \d+ logo/, ' 5 logo'),
    { 'index.mdx': changed['index.mdx'] ?? '' },
    '"logo.svg" 5 bytes',
  ],
  [
    'another size of a file of a known content',
    listOf(project).replace(/ \d+ logo/, ' 5 logo'),
    {},
    '"logo.svg" 5 bytes',
  ],
  ['an invalid line', `${listOf(project)}x y z\n`, {}, 'Line 7 of the list of files is "x y z"'],
  ['a name that points outside', `${sha256Of('x')} 1 ../x.mdx\n`, {}, '"../x.mdx" points outside its folder'],
  ['a name twice', listOf(project) + listOf({ 'logo.svg': 'y' }), {}, '"logo.svg" is in the archive more than once'],
  ['too many bytes', `${sha256Of('x')} 3000000000 x.mdx\n`, {}, 'more than 2147483648 bytes'],
])('a list with %s is refused', async (_what, list, sent, reason) => {
  await publish(project);
  await expect(publishListed(list, sent)).rejects.toMatchObject({
    code: 'invalid_project',
    status: 400,
    message: expect.stringContaining(reason),
  });
  expect(await client.json('/v1/domains/docs/content')).toMatchObject({ versions: [{ pages: 2 }] });
});

test('an archive without a list is refused as a question for missing files and as a change', async () => {
  const refused = { code: 'invalid_project', message: expect.stringContaining(fileListName) };
  for (const [path, method] of [
    ['content/missing', 'POST'],
    ['content', 'PATCH'],
  ] as const) {
    const call = { method, body: streamOf(await packTar(project)) };
    await expect(client.json(`/v1/domains/docs/${path}`, call)).rejects.toMatchObject(refused);
  }
});

test('two publications at once both succeed', async () => {
  await publish(project);
  const of = (text: string): Files => ({ ...project, 'index.mdx': text });
  const both = ['One.\n', 'Two.\n'].map((text) => publishListed(listOf(of(text)), { 'index.mdx': text }));
  const versions = (await Promise.all(both)).map(({ contentVersion }) => contentVersion);
  expect(new Set(versions).size).toBe(2);
  for (const [at, text] of ['One.\n', 'Two.\n'].entries()) {
    const whole = await publishWhole(of(text), 'site');
    expect(await model(versions[at] ?? '')).toBe(await model(whole.contentVersion, 'site'));
  }
});

test('a content that another one replaced and that is deleted meanwhile does not leave holes', async () => {
  const first = await publish(project);
  const { over, calls } = watched(async (_call, number) => {
    if (number !== 2) return;
    await publishWhole({ ...project, 'logo.svg': '<svg/>', 'index.mdx': 'Other.\n' });
    await client.raw(`/v1/domains/docs/content/${first.contentVersion}`, { method: 'DELETE' });
  });
  const published = await publish(changed, over);
  expect(calls.map(({ what }) => what)).toEqual(['missing', 'content', 'missing', 'content']);
  expect(calls[3]?.names).toEqual(['index.mdx', 'logo.svg']);
  const whole = await publishWhole(changed, 'site');
  expect(await model(published.contentVersion)).toBe(await model(whole.contentVersion, 'site'));
});

test('a needed file that is gone from the store is sent after all', async () => {
  await publish(project);
  const gone = blobKey(acme.id, sha256Of(project['docs.json'] ?? ''));
  await gateway.objectStore.remove(gone);
  const { over, calls } = watched();
  // A changed snippet makes the publisher read the project, and not only a page.
  await publish({ ...project, 'snippets/n.mdx': 'Another note.\n' }, over);
  // The second list asks for no other file, so the whole project is sent.
  expect(calls.map(({ what }) => what)).toEqual(['missing', 'content', 'missing', 'content']);
  expect(calls.at(-1)?.names).toEqual(Object.keys(project).toSorted());
  expect(await gateway.objectStore.head(gone)).toBeDefined();
});

test('files of the latest content that are gone from the store come back when it is published again', async () => {
  const { contentVersion } = await publish(project);
  const gone = blobKey(acme.id, sha256Of(project['guides/x.mdx'] ?? ''));
  const modelKey = siteModelKey({ organization: acme.id, domain: 'docs', contentVersion });
  for (const lost of [[gone], [gone, modelKey]]) {
    for (const key of lost) await gateway.objectStore.remove(key);
    const { over, calls } = watched();
    await publish(project, over);
    expect(calls.map(({ names }) => names)).toEqual([[], ['guides/x.mdx']]);
    for (const key of lost) expect(await gateway.objectStore.head(key)).toBeDefined();
  }
  await gateway.objectStore.remove(gone);
  await publishWhole(project);
  expect(await gateway.objectStore.head(gone)).toBeDefined();
});

test('after a publication only the changes are sent, and a server that lacks more gets that too', async () => {
  const last = lastPublication({ folder, baseUrl: client.baseUrl, domain: 'docs' }, { cache: newFolder() });
  const again = async (files: Files): Promise<{ contentVersion: string; calls: Call[] }> => {
    const { over, calls } = watched();
    await write(files);
    const { contentVersion } = await publishProject(over, { domain: 'docs', folder, last });
    return { contentVersion, calls };
  };
  const question = { what: 'missing', names: [] };
  const change = (...names: string[]): Call => ({ what: 'content', names });
  await again(project);
  const small = await again(changed);
  expect(small.calls).toEqual([change('index.mdx')]);
  expect(await publishWhole(changed)).toMatchObject({ contentVersion: small.contentVersion });
  expect((await again(changed)).calls).toEqual([change()]);

  // A file is gone from the store.
  const gone = blobKey(acme.id, sha256Of(project['guides/x.mdx'] ?? ''));
  await gateway.objectStore.remove(gone);
  expect((await again(changed)).calls).toEqual([change(), question, change('guides/x.mdx')]);
  expect(await gateway.objectStore.head(gone)).toBeDefined();

  // Somebody else has published other bytes of a page meanwhile.
  await publishWhole({ ...changed, 'guides/x.mdx': 'Of another author.\n' });
  await publishWhole({ ...changed, 'guides/x.mdx': 'Of another author again.\n' });
  const { calls } = await again({ ...changed, 'index.mdx': '# Start\n\nChanged once more.\n' });
  expect(calls).toEqual([change('index.mdx'), question, change('guides/x.mdx', 'index.mdx')]);
});

test('a page that is only a link need not be sent again when nothing is known of the last reading', async () => {
  const linked = { ...project, 'link.mdx': '---\nurl: https://x.test\n---\n' };
  await publish(linked);
  const { contentVersion } = await publish({ ...linked, 'index.mdx': 'Changed.\n' });
  await gateway.objectStore.remove(readingsKey({ organization: acme.id, domain: 'docs', contentVersion }));
  const { over, calls } = watched();
  await publish({ ...linked, 'index.mdx': 'Changed again.\n' }, over);
  expect(calls.map(({ names }) => names)).toEqual([[], ['index.mdx']]);
});

test('a file that changes while it is sent is listed anew', async () => {
  await publish(project);
  const { over, calls } = watched(async (_call, number) => {
    if (number === 1) await writeFile(join(folder, 'index.mdx'), '# Start\n\nChanged again.\n');
  });
  await write(changed);
  const published = await publishProject(over, { domain: 'docs', folder }).catch((error: unknown) => error);
  expect(calls.length).toBeGreaterThan(1);
  const whole = await publishWhole({ ...project, 'index.mdx': '# Start\n\nChanged again.\n' }, 'site');
  expect(published).toEqual(whole);
});
