import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { joinSegments } from './join-segments.ts';
import { packSegment } from './segment-writer.ts';
import { verifyBundle } from './verify-bundle.ts';

const file = (path: string, content: string | Buffer) => ({ path: `acme/${path}`, body: Buffer.from(content) });
const pages = [
  file('index.html', '<h1>Hello</h1>'),
  file('guides/größe.html', randomBytes(100_000)),
  file('empty', ''),
];
const config = file('_bindery/config.js', 'window.bindery = {};');

async function bundle(files: { path: string; body: Buffer }[]): Promise<Buffer> {
  const segments = await Promise.all(
    [files.slice(0, 1), files.slice(1)].map(async (part, index) => {
      const { bytes, ...summary } = await packSegment(part);
      return Object.assign(summary, { key: String(index), open: async () => Readable.from([bytes]) });
    }),
  );
  return buffer(joinSegments(segments));
}

function manifestOf(files: { path: string; body: Buffer }[]) {
  const entries = files.map(({ path, body }) => ({
    path: path.replace('acme/', ''),
    size: body.length,
    sha256: createHash('sha256').update(body).digest('hex'),
  }));
  return file('_bindery/manifest.json', JSON.stringify({ version: 1, files: entries }));
}

const problemsOf = async (files: { path: string; body: Buffer }[]) =>
  (await verifyBundle(Readable.from([await bundle(files)]))).problems;

test('a complete bundle has no problems, and the report has its size and digest', async () => {
  const bytes = await bundle([...pages, config, manifestOf(pages)]);
  expect(await verifyBundle(Readable.from([bytes.subarray(0, 100), bytes.subarray(100)]))).toEqual({
    files: 5,
    sizeBytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    manifestSha256: createHash('sha256').update(manifestOf(pages).body).digest('hex'),
    findings: undefined,
    problems: [],
  });
});

test('the numbers of findings are those of the report for authors', async () => {
  const report = file('_bindery/report.json', '{"summary":{"pages":3,"errors":1,"warnings":32}}');
  const bytes = await bundle([...pages, report, manifestOf([...pages, report])]);
  const { findings, problems } = await verifyBundle(Readable.from([bytes]));
  expect({ findings, problems }).toEqual({ findings: { errors: 1, warnings: 32 }, problems: [] });
});

test.each(['no JSON', '[]'])('an invalid report for authors has no numbers: %s', async (written) => {
  const report = file('_bindery/report.json', written);
  const bytes = await bundle([...pages, report, manifestOf([...pages, report])]);
  const { findings, problems } = await verifyBundle(Readable.from([bytes]));
  expect({ findings, problems }).toEqual({ findings: undefined, problems: [] });
});

test('the settings may be edited after the export', async () => {
  expect(await problemsOf([...pages, file('_bindery/config.js', 'edited'), manifestOf(pages)])).toEqual([]);
});

test('every file that is missing, changed or unlisted is named', async () => {
  const changed = file('index.html', '<h1>Jello</h1>');
  const shorter = file('guides/größe.html', 'x');
  expect(await problemsOf([changed, shorter, file('extra.html', ''), manifestOf(pages)])).toEqual([
    'index.html does not match its SHA-256 in the manifest',
    'guides/größe.html has 1 bytes instead of 100000',
    'empty is missing',
    'extra.html is not in the manifest',
  ]);
});

test('a bundle without a manifest, with a broken one or with two top folders is invalid', async () => {
  expect(await problemsOf(pages)).toEqual(['the bundle has no _bindery/manifest.json']);
  expect(await problemsOf([file('_bindery/manifest.json', '{"files":')])).toEqual([
    '_bindery/manifest.json is not JSON: it was changed or cut after the export',
  ]);
  const other = { path: 'other/x', body: Buffer.from('') };
  expect(await problemsOf([...pages, other, manifestOf([...pages, { ...other, path: 'acme/x' }])])).toEqual([
    'the bundle has more than one top folder: acme, other',
  ]);
});

test('a manifest without the right fields is refused, and a file outside the top folder is not listed', async () => {
  const manifest = (json: string) => problemsOf([file('_bindery/manifest.json', json)]);
  expect(await manifest('{"files":[{"path":"a","size":-1,"sha256":""}]}')).toEqual([
    '_bindery/manifest.json is not a manifest: "files.0.size" must be at least 0',
  ]);
  expect(await manifest('[]')).toEqual(['_bindery/manifest.json is not a manifest: it must be an object, not a list']);
  const alone = { path: 'alone.txt', body: Buffer.from('') };
  expect(await problemsOf([...pages, alone, manifestOf(pages)])).toEqual([
    'the bundle has more than one top folder: acme, alone.txt',
    'alone.txt is not in the manifest',
  ]);
});

test('a report has at most 100 problems, and names at most five top folders', async () => {
  const extra = Array.from({ length: 120 }, (_, n) => ({ path: `top-${n}/x-${n}`, body: Buffer.from('') }));
  const problems = await problemsOf([...pages, ...extra, manifestOf(pages)]);
  expect(problems).toHaveLength(100);
  expect(problems[0]).toBe('the bundle has more than one top folder: acme, top-0, top-1, top-2, top-3');
});

test('an archive that is cut or malicious is one problem', async () => {
  const bytes = await bundle([...pages, manifestOf(pages)]);
  const cut = await verifyBundle(Readable.from([bytes.subarray(0, 5000)]));
  expect(cut).toMatchObject({
    sha256: undefined,
    problems: ['the archive ends too early: it was cut during the transfer'],
  });
  const twice = Buffer.concat([bytes, gzipSync(Buffer.alloc(1024))]);
  expect((await verifyBundle(Readable.from([twice]))).problems).toEqual([
    expect.stringContaining('more than one gzip member'),
  ]);
  const same = [file('a.html', '1'), file('A.html', '2')];
  expect(await problemsOf([...same, manifestOf(same)])).toEqual([expect.stringContaining('the same name on some')]);
});

test('a file that cannot be read is an error, not a bad bundle', async () => {
  const broken = new Readable({ read: () => broken.destroy(new Error('disk failed')) });
  await expect(verifyBundle(broken)).rejects.toThrow('disk failed');
});
