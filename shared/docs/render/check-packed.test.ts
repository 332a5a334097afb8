import { hash } from 'node:crypto';
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { RenderedPage } from '#shared/contracts/stored-objects.ts';
import { inflatePieces } from '#shared/export/bundle/deflated-bytes.ts';
import { type PackedSegment, packPages, sidecarParts } from '#shared/export/bundle/packed-segment.ts';
import { packSegment } from '#shared/export/bundle/segment-writer.ts';
import { checkPacked } from './check-packed.ts';
import { testProject } from './test-project.ts';

const project = await testProject({
  'a.mdx': '# A\n\nWords of *A*.\n',
  'guides/b.mdx': '---\ntitle: B\n---\n\n<Note>Words of B.</Note>\n\n```js\nconst b = 1;\n```\n',
});
const paths = ['a', 'guides/b'];
const rendered = paths.map((path) => project.render(path));
const files = rendered.flatMap((page) => page.files);
const pages = rendered.map(({ page }) => page);
const honest = await packPages('docs', files, pages);

type Facts = Record<string, unknown> & {
  pages: RenderedPage[];
  files: { path: string; sha256: string; size: number }[];
};

/** The segment with a changed sidecar. */
function told(change: (facts: Facts) => void, of: PackedSegment = honest): PackedSegment {
  const { json, behind } = sidecarParts(of.sidecar);
  const facts = JSON.parse(Buffer.from(json).toString()) as Facts;
  change(facts);
  const text = JSON.stringify(facts);
  return { segment: of.segment, sidecar: Buffer.concat([Buffer.from(`${text.slice(0, -1)},"texts":[\n`), behind]) };
}

/** Another segment, with a sidecar that states the correct hash, checksum and sizes. */
function packed(segment: Buffer, raw: Uint8Array, listed?: Facts['files']): PackedSegment {
  return told(
    (facts) => {
      const sums = { sha256: hash('sha256', segment, 'hex'), crc32: crc32(raw) };
      Object.assign(facts, sums, { sizeBytes: segment.length, rawLength: raw.length }, listed && { files: listed });
    },
    { segment, sidecar: honest.sidecar },
  );
}

async function withFiles(others: typeof files): Promise<PackedSegment> {
  return packPages('docs', others, pages);
}

const [html, markdown, ...rest] = files as [(typeof files)[number], (typeof files)[number]];
const flushed = { finishFlush: 3 };
const rawOf = async (own: typeof files): Promise<Buffer> => {
  const { bytes, rawLength } = await packSegment(own.map(({ path, body }) => ({ path: `docs/${path}`, body })));
  return inflatePieces(bytes, rawLength);
};

/** True if the stream ends at a byte boundary, so that another block can follow it. */
function endsWithByte(deflated: Buffer, raw: Buffer): boolean {
  const emptyLastBlock = Buffer.from([1, 0, 0, 0xff, 0xff]);
  try {
    return inflateRawSync(Buffer.concat([deflated, emptyLastBlock])).equals(raw);
  } catch {
    return false;
  }
}

describe('a packed chunk', () => {
  it('passes as the renderer makes it', async () => {
    await expect(checkPacked(honest, 'docs', paths)).resolves.toBeUndefined();
  });

  it('fails with facts of pages that are larger than pages need, because every service reads them', async () => {
    const large = told(({ pages }) => {
      for (const page of pages) page.title = 'x'.repeat(17 * 1024 * 1024);
    });
    await expect(checkPacked(large, 'docs', paths)).rejects.toThrow(
      'it packed a sidecar that is larger than pages need',
    );
  });

  it('passes with the files that only some pages have, and with none of other pages', async () => {
    const source = `import { useState } from 'react';

export const Counter = () => { const [count, setCount] = useState(1); return <button onClick={() => setCount(count + 1)}>{count}</button>; };

<Counter />

<style>
.soft { color: red }
</style>`;
    const styled = (await testProject({ 'a.mdx': source })).render('a');
    expect(styled.files).toHaveLength(4);
    const segment = await packPages('docs', styled.files, [styled.page]);
    await expect(checkPacked(segment, 'docs', ['a'])).resolves.toBeUndefined();
    const others = { path: '_bindery/styles/0000000000000000.css', body: '' };
    const more = await packPages('docs', [...styled.files, others], [styled.page]);
    await expect(checkPacked(more, 'docs', ['a'])).rejects.toThrow('it packed other files than those of its pages');
  });

  const lies: [string, () => PackedSegment | Promise<PackedSegment>][] = [
    ['has the file of another page', () => withFiles([{ path: 'index.html', body: 'x' }, markdown, ...rest])],
    ['has one file too many', () => withFiles([...files, { path: 'index.html', body: 'x' }])],
    ['has an additional generated file', () => withFiles([...files, { path: '_bindery/config.js', body: 'x' }])],
    ['lacks a file', () => withFiles(files.slice(1))],
    ['has its files in another order', () => withFiles([markdown, html, ...rest])],
    ['belongs to another domain', () => packPages('other', files, pages)],
    ['describes another page', () => told(({ pages: [page] }) => page && Object.assign(page, { path: 'index' }))],
    ['describes one page twice', () => told(({ pages: list }) => void list.splice(1, 1, list[0] as RenderedPage))],
    ['describes no page', () => told((facts) => Object.assign(facts, { pages: [] }))],
    [
      'needs a file outside of the bundle',
      () => told(({ pages: [page] }) => page && Object.assign(page, { playground: '../../x' })),
    ],
    [
      'needs a font outside of the bundle',
      () => told(({ pages: [page] }) => page && Object.assign(page, { mathFonts: ['../x'] })),
    ],
    ['has another size than its sidecar states', () => told((facts) => Object.assign(facts, { sizeBytes: 1 }))],
    [
      'has another hash than its sidecar states',
      () => told((facts) => Object.assign(facts, { sha256: '0'.repeat(64) })),
    ],
    ['has another checksum than its sidecar states', () => told((facts) => Object.assign(facts, { crc32: 1 }))],
    ['has more bytes than its sidecar states', () => told((facts) => Object.assign(facts, { rawLength: 1024 }))],
    ['has a sidecar that states an enormous size', () => told((facts) => Object.assign(facts, { rawLength: 2 ** 40 }))],
    [
      'has a file with another hash',
      () => told(({ files: [file] }) => file && Object.assign(file, { sha256: '0'.repeat(64) })),
    ],
    ['has a file with another size', () => told(({ files: [file] }) => file && Object.assign(file, { size: 1 }))],
    ['has texts of another length', () => told(({ pages: [page] }) => page && Object.assign(page, { searchBytes: 1 }))],
    ['has no texts', () => ({ ...honest, sidecar: sidecarParts(honest.sidecar).json })],
    [
      'has further bytes after its texts',
      () => ({ ...honest, sidecar: Buffer.concat([honest.sidecar, Buffer.from('x')]) }),
    ],
    ['has an invalid sidecar', () => ({ ...honest, sidecar: Buffer.from('null') })],
    [
      'has a sidecar with a space in front',
      () => ({ ...honest, sidecar: Buffer.concat([Buffer.from(' '), honest.sidecar]) }),
    ],
    [
      'hides a file after the listed ones',
      async () => {
        const raw = await rawOf([...files, { path: 'index.html', body: 'hidden' }]);
        const { files: listed } = await packSegment(files.map(({ path, body }) => ({ path: `docs/${path}`, body })));
        return packed(deflateRawSync(raw, flushed), raw, listed);
      },
    ],
    [
      'ends the stream, so that nothing after it is read',
      async () => {
        const raw = await rawOf(files);
        return packed(deflateRawSync(raw), raw);
      },
    ],
    [
      'ends the stream and has bytes after its end',
      async () => {
        const raw = await rawOf(files);
        return packed(Buffer.concat([deflateRawSync(raw), Buffer.from([0, 0, 0, 0xff, 0xff])]), raw);
      },
    ],
    [
      'ends in the middle of a block, which takes in what comes next',
      async () => {
        const raw = await rawOf(files);
        const open = Buffer.from([0, 0xff, 0xff, 0, 0]);
        return packed(Buffer.concat([deflateRawSync(raw, flushed), open]), raw);
      },
    ],
    [
      'ends in the middle of a byte',
      async () => {
        const raw = await rawOf(files);
        const levels = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((level) => deflateRawSync(raw, { level, finishFlush: 5 }));
        const cut = levels.find((deflated) => !endsWithByte(deflated, raw));
        if (cut === undefined) throw new Error('At every level the stream ends with a whole byte.');
        return packed(cut, raw);
      },
    ],
  ];
  it.each(lies)('fails if it %s', async (_what, lie) => {
    await expect(checkPacked(await lie(), 'docs', paths)).rejects.toThrow(/^it [a-z]/);
  });
});

it('keeps no memory for the pages of a chunk, which would make the collector mark the site of the service', async () => {
  const large = Buffer.from('words and more words\n'.repeat(400_000)).toString();
  const chunk = await packPages('docs', [{ ...html, body: large }, markdown, ...rest], pages);
  const before = process.memoryUsage().arrayBuffers;
  await checkPacked(chunk, 'docs', paths);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(large.length / 2);
});
