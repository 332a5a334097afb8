import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type Header, pack } from 'tar-stream';
import { describe, expect, test } from 'vitest';
import { ArchiveRefused } from './archive-names.ts';
import { type ReadArchiveOptions, readArchive } from './read-archive.ts';
import { joinSegments } from './join-segments.ts';
import { packSegment } from './segment-writer.ts';
import { tarHeader, tarPadding } from './tar-header.ts';

const MiB = 1024 * 1024;
const budgets = { packedBytes: 50 * MiB, unpackedBytes: 100 * MiB, entries: 1000, ratio: 200 };

/** A `.tar.gz` with these entries, packed by other code than ours. */
async function archive(...entries: (Partial<Header> & { name: string; body?: string | Buffer })[]): Promise<Buffer> {
  const tar = pack();
  for (const { body = '', ...header } of entries) tar.entry({ mtime: new Date(0), ...header }, body);
  tar.finalize();
  return gzipSync(await buffer(tar));
}

async function read(packed: Buffer | Readable, options: ReadArchiveOptions & Partial<typeof budgets> = {}) {
  const files: Record<string, string> = {};
  const source = Buffer.isBuffer(packed) ? Readable.from(cut(packed)) : packed;
  for await (const { path, body } of readArchive(source, { ...budgets, ...options }, options))
    files[path] = await text(body);
  return files;
}

const cut = (bytes: Buffer, size = 1000) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => bytes.subarray(n * size, (n + 1) * size));

const refused = (packed: Buffer | Readable, options = {}) =>
  read(packed, options).then(
    () => 'accepted',
    (error: unknown) => (error instanceof ArchiveRefused ? error.message : error),
  );

describe('an archive of a project or of a bundle', () => {
  test('yields its regular files in order, without the folders and without a leading ./', async () => {
    const packed = await archive(
      { name: './', type: 'directory' },
      { name: './docs.json', body: '{}' },
      { name: 'guides/', type: 'directory' },
      { name: `guides/${'long/'.repeat(60)}x.mdx`, body: '# X' },
      { name: 'größe.mdx', body: 'y'.repeat(200_000) },
      { name: 'empty.txt', body: '' },
    );
    const files = await read(packed);
    expect(Object.keys(files)).toEqual(['docs.json', `guides/${'long/'.repeat(60)}x.mdx`, 'größe.mdx', 'empty.txt']);
    expect(files['größe.mdx']?.length).toBe(200_000);
  });

  test('reads a joined bundle', async () => {
    const { bytes, ...summary } = await packSegment([{ path: 'acme/日本.html', body: Buffer.from('本') }]);
    const bundle = joinSegments([{ ...summary, key: 'one', open: async () => Readable.from([bytes]) }]);
    expect(await read(bundle, { portableNames: true })).toEqual({ 'acme/日本.html': '本' });
  });

  test('bodies may be unread, read or half read', async () => {
    const packed = await archive(
      { name: 'a', body: 'a'.repeat(300_000) },
      { name: 'b', body: 'b'.repeat(300_000) },
      { name: 'c', body: 'c' },
    );
    const seen: string[] = [];
    for await (const { path, body } of readArchive(Readable.from(cut(packed, 50)), budgets)) {
      seen.push(path);
      if (path === 'b') for await (const chunk of body) if (Buffer.from(chunk).length > 0) break;
    }
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  test('stopping early closes the source, which has more', async () => {
    const packed = await archive({ name: 'a', body: 'a' }, { name: 'b', body: randomBytes(100_000) });
    const source = new Readable({ read() {} });
    source.push(packed.subarray(0, -60));
    for await (const { path } of readArchive(source, budgets)) if (path === 'a') break;
    expect(source.destroyed).toBe(true);
  });

  test('may have several gzip members, unless only one is allowed', async () => {
    const packed = await archive({ name: 'a', body: 'a'.repeat(1_000) }, { name: 'b', body: 'b' });
    const tar = gunzipSync(packed);
    const members = Buffer.concat([gzipSync(tar.subarray(0, 700)), gzipSync(tar.subarray(700))]);
    expect(await read(members)).toEqual(await read(packed));
    expect(await refused(members, { oneMember: true })).toContain('more than one gzip member');
  });
});

describe('refused is', () => {
  test.each([
    ['a symbolic link', { name: 'l', type: 'symlink', linkname: '/etc' }, '"l" is a symbolic link'],
    ['a hard link', { name: 'l', type: 'link', linkname: 'x' }, '"l" is a hard link'],
    ['a device', { name: 'd', type: 'character-device' }, '"d" is a device'],
    ['a pipe', { name: 'p', type: 'fifo' }, '"p" is a pipe'],
    ['a climbing name', { name: '../evil' }, 'the name "../evil" points outside its folder'],
    ['a climbing folder', { name: '../evil/', type: 'directory' }, 'the name "../evil/" points outside'],
    ['an absolute name', { name: '/evil' }, 'the name "/evil" is absolute'],
    ['a name that points outside later', { name: 'a/../../evil' }, 'points outside its folder'],
    ['a backslash', { name: '..\\evil' }, 'has a backslash'],
    ['a dot in the middle', { name: 'a/./b' }, 'has an empty or "." part'],
  ] as const)('%s', async (_what, entry, message) => {
    const packed = await archive({ name: 'fine', body: 'x' }, { ...entry });
    expect(await refused(packed)).toContain(message);
  });

  test('a valid name with an invalid one in its PAX header', async () => {
    // tar-stream writes a PAX header for a name outside ASCII, and calls the entry itself "PaxHeader".
    expect(await refused(await archive({ name: '../größe', body: 'x' }))).toContain('"../größe" points outside');
  });

  test('a duplicate name, a file that is also a folder, and on request names that are equal on other systems', async () => {
    const two = (a: string, b: string) => archive({ name: a, body: '1' }, { name: b, body: '2' });
    expect(await refused(await two('a', 'a'))).toBe('"a" is in the archive more than once');
    expect(await refused(await two('a', 'a/b'))).toBe('"a" is a file, and a folder for "a/b"');
    expect(await refused(await two('a/b', 'a'))).toBe('"a" is in the archive more than once');
    for (const [a, b] of [
      ['a/X', 'a/x'],
      ['A/x', 'a/X'],
      ['A/x', 'a'],
      ['\u00e9', 'e\u0301'],
    ] as const) {
      expect(await refused(await two(a, b))).toBe('accepted');
      expect(await refused(await two(a, b), { portableNames: true })).toContain(
        'are the same name on some file systems',
      );
    }
    // Folders whose names differ only in case become one folder, and nothing is lost.
    expect(await refused(await two('A/x', 'a/y'), { portableNames: true })).toBe('accepted');
  });

  test('a folder with bytes, which tar programs read in two ways', async () => {
    const header = Buffer.from(tarHeader('folder', 512));
    header.write('5', 156);
    header.write('        ', 148);
    header.write(
      `${header
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, '0')}\0 `,
      148,
    );
    const packed = gzipSync(Buffer.concat([header, Buffer.alloc(512, 'x'), Buffer.alloc(1024)]));
    expect(await refused(packed)).toBe('"folder" is a folder, but has content');
  });

  test('archives that exceed a budget', async () => {
    const zeros = await archive({ name: 'zeros', body: Buffer.alloc(40 * MiB) });
    expect(await refused(zeros)).toBe('the archive unpacks to more than 200 times its size');
    expect(await refused(zeros, { ratio: 5000, unpackedBytes: 30 * MiB })).toContain(
      'unpacks to more than 31.45728 MB',
    );
    expect(await refused(zeros, { packedBytes: 1000 })).toBe('the archive is larger than 1000 bytes');
    const many = await archive(...Array.from({ length: 11 }, (_, n) => ({ name: String(n), body: '' })));
    expect(await refused(many, { entries: 10 })).toBe('the archive has more than 10 entries');
  });

  test('nothing that meets its budget exactly', async () => {
    const body = Buffer.alloc(1_000_000, 'some words ');
    const packed = await archive({ name: 'folder', type: 'directory' }, { name: 'folder/a', body });
    const unpackedBytes = gunzipSync(packed).length;
    const exact = { packedBytes: packed.length, unpackedBytes, entries: 2, ratio: 5_000 };
    expect(await refused(packed, exact)).toBe('accepted');
    expect(await refused(packed, { ...exact, packedBytes: packed.length - 1 })).toBe(
      `the archive is larger than ${packed.length - 1} bytes`,
    );
    expect(await refused(packed, { ...exact, unpackedBytes: 1_000_000 })).toBe('the archive unpacks to more than 1 MB');
    expect(await refused(packed, { ...exact, entries: 1 })).toBe('the archive has more than 1 entries');
  });

  test('a high ratio only of archives that unpack to more than 16 MiB', async () => {
    expect(await refused(await archive({ name: 'zeros', body: Buffer.alloc(15 * MiB) }), { ratio: 2 })).toBe(
      'accepted',
    );
    expect(await refused(await archive({ name: 'zeros', body: Buffer.alloc(17 * MiB) }), { ratio: 2 })).toBe(
      'the archive unpacks to more than 2 times its size',
    );
  });

  test('archives that are cut at any place or changed, and other files', async () => {
    const packed = await archive({ name: 'a', body: Buffer.from(Array.from({ length: 3000 }, (_, n) => n * n)) });
    for (let length = 1; length < packed.length; length += 17) {
      expect(await refused(packed.subarray(0, length)), `cut at ${length}`).toContain('ends too early');
    }
    expect(await refused(Buffer.alloc(0))).toBe('the archive is empty: send a .tar.gz');
    expect(await refused(Buffer.from('PK\x03\x04 a zip file'))).toBe(
      'the archive is not packed with gzip: send a .tar.gz',
    );
    expect(await refused(gzipSync('x'.repeat(2000)))).toMatch(/^the archive is damaged or not a tar archive: Invalid/);
    expect(await refused(Buffer.concat([packed, Buffer.alloc(3, 'x')]), { oneMember: true })).toBe(
      'the archive has more than one gzip member, or bytes after its end',
    );
    expect(await refused(Buffer.concat([packed, packed]), { oneMember: true })).toContain('more than one gzip member');
    const header = tarHeader('a', 5000);
    expect(await refused(gzipSync(Buffer.concat([header, Buffer.alloc(1000)])))).toContain('ends too early');
    const changed = Buffer.from(packed);
    changed[packed.length - 6] = (changed[packed.length - 6] ?? 0) ^ 1;
    expect(await refused(changed)).toContain('damaged');
  });

  test('an error of the source is not reported as a bad archive, and reaches the reader of a body', async () => {
    const packed = await archive(
      { name: 'a', body: 'a'.repeat(1000) },
      { name: 'b', body: Buffer.alloc(100_000, 'xyz') },
    );
    const lost = new Error('connection lost');
    const source = new Readable({ read() {} });
    source.push(packed.subarray(0, packed.length - 60));
    const reading = (async () => {
      for await (const { path, body } of readArchive(source, budgets)) {
        if (path === 'b') setImmediate(() => source.destroy(lost));
        await buffer(body);
      }
    })();
    await expect(reading).rejects.toBe(lost);
  });

  test('random damage, always with an end', async () => {
    const body = Buffer.concat(
      ['a/b', 'größe', 'c'].flatMap((path) => [tarHeader(path, 700), Buffer.alloc(700), tarPadding(700)]),
    );
    for (let round = 0; round < 500; round++) {
      const raw = Buffer.concat([body, Buffer.alloc(1024)]);
      for (let hit = 0; hit <= round % 4; hit++)
        raw[Math.floor(Math.random() * raw.length)] = Math.floor(Math.random() * 256);
      expect(await refused(gzipSync(raw))).toEqual(expect.any(String));
    }
  });
});

describe('a malicious archive is refused as a whole', () => {
  test.each([
    ['names that climb', [{ name: '../evil' }, { name: '/etc/evil' }, { name: '..\\evil' }], 'points outside'],
    ['a link to write through', [{ name: 'out', type: 'symlink', linkname: '/tmp' }, { name: 'out/evil' }], 'symbolic'],
    ['a bomb', [{ name: 'zeros', body: Buffer.alloc(64 * MiB) }], 'times its size'],
    ['names twice', [{ name: 'same' }, { name: 'same' }, { name: 'same/below' }], 'more than once'],
    [
      'an innocent name with another in its PAX header',
      [{ name: 'a', pax: { path: '../evil' } }],
      '"../evil" points outside',
    ],
  ] as const)('%s', async (_what, entries, message) => {
    const packed = await archive({ name: 'fine', body: 'x' }, ...entries.map((entry) => ({ body: '', ...entry })));
    expect(await refused(packed)).toContain(message);
  });
});
