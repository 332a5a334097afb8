import { readFileSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { packageFile } from '#shared/runtime/installed-packages.ts';
import type { JsonValue } from './json-values.ts';
import { fontKind, readFonts } from './read-fonts.ts';
import { siteSettingsSchema } from './site-model.ts';

const font = (name: string): Buffer => readFileSync(packageFile(`katex/dist/fonts/${name}`));
const woff2 = font('KaTeX_Main-Regular.woff2');

const files = new Map<string, Buffer>([
  ['fonts/a.woff2', woff2],
  ['fonts/b c.woff', font('KaTeX_Main-Bold.woff')],
  ['d.ttf', font('KaTeX_Main-Bold.ttf')],
  ['page.ttf', Buffer.from(`<script>pwned(1)</script>${' '.repeat(100)}`)],
  ['empty.woff2', Buffer.alloc(0)],
  ['huge.woff2', woff2],
]);

async function read(fonts: JsonValue) {
  const found: Diagnostic[] = [];
  const carried = [...files].map(([path, body]) => {
    return { path, sha256: '', sizeBytes: path === 'huge.woff2' ? 9 * 1024 * 1024 : body.length };
  });
  const open = (path: string) => Promise.resolve(files.get(path) ?? Buffer.alloc(0));
  const made = await readFonts(fonts, 'docs.json', { files: carried, read: open }, (diagnostic) =>
    found.push(diagnostic),
  );
  const codes = found.map(({ code }) => code);
  return { fonts: siteSettingsSchema.shape.fonts.parse(made), codes, messages: found.map(({ message }) => message) };
}

const file = (path: string, format = 'woff2') => ({ path, format, variable: false });

describe('fonts of docs.json', () => {
  it('are one for everything, or one for headings and one for text', async () => {
    const a = { family: 'A', file: file('fonts/a.woff2') };
    expect(await read({ family: 'A', source: '/fonts/a.woff2', format: 'woff2', weight: 400 })).toMatchObject({
      fonts: { body: { ...a, weight: 400 }, heading: a },
      codes: [],
    });
    expect(
      await read({ heading: { family: 'B', source: './fonts/b%20c.woff', weight: '700' }, body: { family: 'serif' } }),
    ).toMatchObject({
      fonts: { body: { family: 'serif' }, heading: { family: 'B', weight: 700, file: file('fonts/b c.woff', 'woff') } },
      codes: [],
    });
    expect((await read({ headings: { family: 'D', source: 'd.ttf' } })).fonts).toEqual({
      heading: { family: 'D', file: file('d.ttf', 'truetype') },
    });
  });

  it('use the common file only for the same family', async () => {
    const { fonts } = await read({
      family: 'A',
      source: 'fonts/a.woff2',
      weight: 300,
      heading: { family: 'serif' },
      body: { weight: 500 },
    });
    expect(fonts).toEqual({
      body: { family: 'A', weight: 500, file: file('fonts/a.woff2') },
      heading: { family: 'serif' },
    });
  });

  it("that are elsewhere or have no file are left to the reader's system, with advice", async () => {
    const { fonts, messages, codes } = await read({
      body: { family: 'Inter' },
      heading: { family: 'Hubot', source: 'https://example.com/hubot.woff2' },
    });
    expect(fonts).toEqual({ body: { family: 'Inter' }, heading: { family: 'Hubot' } });
    expect(codes).toEqual(['font-without-file', 'font-without-file']);
    expect(messages[0]).toBe(
      'The font "Inter" has no file, so only readers who have it see it. Put its .woff2 file into the project and name it as "source".',
    );
    expect(messages[1]).toContain('"https://example.com/hubot.woff2". Put that file into the project');
    expect((await read({ family: 'Inter' })).codes).toEqual(['font-without-file']);
  });

  it.each([
    ['../../etc/passwd', 'is not a file of the project'],
    ['/..%2f..%2fetc/passwd', 'is not a file of the project'],
    ['javascript:alert(1)', 'bundles load nothing from elsewhere'],
    ['data:font/woff2;base64,AAAA', 'bundles load nothing from elsewhere'],
    ['\\\\server\\a.woff2', 'bundles load nothing from elsewhere'],
    ['page.ttf', 'is not a font'],
    ['empty.woff2', 'is not a font'],
    ['huge.woff2', 'is larger than 8 MB'],
  ])('have no file where the source is %j', async (source, problem) => {
    const { fonts, messages } = await read({ family: 'A', source });
    expect(fonts).toEqual({ body: { family: 'A' }, heading: { family: 'A' } });
    expect(messages).toEqual([expect.stringContaining(problem)]);
  });

  it('with other types have no effect', async () => {
    expect(await read('Inter')).toMatchObject({ fonts: undefined, codes: [] });
    expect(await read({ source: 'd.ttf' })).toMatchObject({ fonts: undefined, codes: ['bad-font'] });
    expect((await read({ family: 'x'.repeat(101) })).codes).toEqual(['bad-font']);
    expect(await read({ family: 'serif', weight: 'heavy' })).toMatchObject({
      fonts: { body: { family: 'serif' } },
      codes: ['bad-setting'],
    });
  });

  it('in models of earlier versions are unparsed values of docs.json, and harmless', () => {
    const { fonts } = siteSettingsSchema.shape;
    expect(fonts.parse({ family: 'A', source: 'd.ttf' })).toEqual({});
    expect(fonts.parse('A')).toBeUndefined();
    expect(fonts.parse({ heading: { weight: 4 } })).toBeUndefined();
  });
});

describe('a font file', () => {
  it('has variable weights if it has the table for that', () => {
    const ttf = Buffer.alloc(64);
    ttf.writeUInt32BE(0x00010000, 0);
    ttf.writeUInt16BE(2, 4);
    ttf.write('OS/2', 12);
    ttf.write('fvar', 28);
    expect(fontKind(ttf)).toEqual({ format: 'truetype', variable: true });

    // Tables: head, a transformed glyf, one with a custom name, fvar.
    const directory = [1, 54, 10, 0x81, 0x00, 0x80, 0x7f, 63, ...Buffer.from('ABCD'), 5, 47, 9];
    const header = Buffer.alloc(48);
    header.write('wOF2', 0);
    header.writeUInt16BE(4, 12);
    const variable = Buffer.concat([header, Buffer.from(directory), brotliCompressSync('tables')]);
    expect(fontKind(variable)).toEqual({ format: 'woff2', variable: true });
    for (let length = 0; length < variable.length; length++) fontKind(variable.subarray(0, length));
    expect(fontKind(woff2)).toEqual({ format: 'woff2', variable: false });
  });
});
