import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { joinSegments } from './join-segments.ts';
import { packSegment } from './segment-writer.ts';

const run = promisify(execFile);
const env = { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8' };

const paths = [
  'acme/index.html',
  'acme/empty.txt',
  'acme/größe/ページ.html',
  `acme/${'folder/'.repeat(20)}split-in-two.html`,
  `acme/${'deep-folder/'.repeat(30)}too-long-for-ustar.html`,
  `acme/${'名'.repeat(60)}.html`,
  `acme/${'a'.repeat(99)}/${'b'.repeat(120)}.html`,
  'acme/_bindery/manifest.json',
];
const bodies = new Map(
  paths.map((path, index) => [
    path,
    index === 1 ? Buffer.alloc(0) : randomBytes(300 * index + (index === 4 ? 300_000 : 1)),
  ]),
);
const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const expected = [...bodies].map(([path, body]) => `${path} ${digest(body)}`).sort();

let folder = '';
let bundle = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bindery-readers-'));
  bundle = join(folder, 'bundle.tar.gz');
  const files = [...bodies].map(([path, body]) => ({ path, body }));
  const segments = await Promise.all(
    [files.slice(0, 3), [], files.slice(3, 5), files.slice(5)].map(async (part, index) => {
      const { bytes, ...summary } = await packSegment(part);
      return Object.assign(summary, { key: String(index), open: async () => Readable.from([bytes]) });
    }),
  );
  await pipeline(joinSegments(segments), createWriteStream(bundle));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function filesUnder(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return (
    await Promise.all(files.map(async (path) => `${path.slice(root.length + 1)} ${digest(await readFile(path))}`))
  ).sort();
}

const readers: [name: string, command: string, args: (target: string) => string[]][] = [
  ['GNU tar', 'tar', (target) => ['xzf', bundle, '-C', target]],
  ['bsdtar', 'bsdtar', (target) => ['xzf', bundle, '-C', target]],
  ['busybox tar', 'busybox', (target) => ['tar', 'xzf', bundle, '-C', target]],
];

async function missing(command: string, ...args: string[]): Promise<boolean> {
  return run(command, args).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  );
}

describe('a joined bundle is read completely, and without warnings, by', () => {
  test.for(readers)('%s', async ([name, command, args], { skip }) => {
    skip(await missing(command, '--help'), `${name} is not on this machine (${command} on PATH)`);
    const target = join(folder, command);
    await mkdir(target);
    const { stderr } = await run(command, args(target), { env });
    expect(stderr).toBe('');
    expect(await filesUnder(target)).toEqual(expected);
  });

  test('the tarfile of Python as a stream', async ({ skip }) => {
    skip(await missing('python3', '--version'), 'Python is not on this machine (python3 on PATH)');
    const script = [
      'import hashlib, sys, tarfile',
      'archive = tarfile.open(fileobj=sys.stdin.buffer, mode="r|gz")',
      'for entry in archive:',
      '    print(entry.name, hashlib.sha256(archive.extractfile(entry).read()).hexdigest())',
    ];
    const python = spawn('python3', ['-c', script.join('\n')], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    python.stdin.end(await readFile(bundle));
    const lines = (await python.stdout.setEncoding('utf8').toArray()).join('').trim().split('\n');
    expect(lines.sort()).toEqual(expected);
  });

  test('tar-stream behind the zlib of Node', async () => {
    const entries = extract();
    const found: string[] = [];
    const feeding = pipeline(Readable.from([await readFile(bundle)]), createGunzip(), entries);
    for await (const entry of entries) {
      found.push(`${entry.header.name} ${digest(await buffer(entry))}`);
    }
    await feeding;
    expect(found.sort()).toEqual(expected);
  });

  test('DecompressionStream, which refuses bytes after the gzip member', async () => {
    const packed = new Blob([await readFile(bundle)]).stream().pipeThrough(new DecompressionStream('gzip'));
    const raw = new Uint8Array(await new Response(packed).arrayBuffer());
    expect(raw.length % 512).toBe(0);
    expect(raw.subarray(-1024).every((byte) => byte === 0)).toBe(true);
  });
});
