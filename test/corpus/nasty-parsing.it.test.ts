import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ParsedPage } from '#shared/docs/project/parse-page.ts';
import { readDocsProject } from '#shared/docs/project/read-docs-project.ts';
import { memoryProject } from '../support/memory-project.ts';
import { type ChildPool, childPool } from '#shared/docs/sandbox/child-pool.ts';
import { isThere, nastyGenerator } from '../support/docs-projects.ts';

const deadlineMs = 10_000;

type Seen = Omit<ParsedPage, 'tree'> & { tree: string; polluted: number };

/** What must come of a file beyond "it ends, the child lives, nothing ran". */
const failures: Record<string, string> = {
  'b11-deep-literal.mdx': 'expression-too-deep',
  'b12-wide-literal.mdx': 'page-too-large',
  'c01-deep-blockquote.md': 'nesting-too-deep',
  'c02-deep-list.md': 'page-too-large',
  'c07-backtick-runs.md': 'page-too-large',
  'c08-deep-jsx.mdx': 'nesting-too-deep',
  'c09-deep-jsx-flow.mdx': 'nesting-too-deep',
  'c11-table-autocomplete.md': 'page-too-large',
  'c12-huge-table.md': 'page-too-large',
  'c17-entity-flood.md': 'page-too-large',
  'c18-one-line-4mb.md': 'page-too-large',
  'c22-setext-lazy.md': 'page-too-large',
  'd01-code-one-line-2mb.mdx': 'page-too-large',
  'e04-yaml-huge.mdx': 'page-too-large',
};
const reported: Record<string, string> = {
  'a14-frontmatter-js-engine.mdx': 'bad-frontmatter',
  'a15-yaml-js-tags.mdx': 'bad-frontmatter',
  'c10-unclosed-jsx.mdx': 'mdx-syntax',
  'e01-yaml-billion-laughs.mdx': 'bad-frontmatter',
  'e02-yaml-merge-bomb.mdx': 'bad-frontmatter',
  'e03-yaml-deep-flow.mdx': 'bad-frontmatter',
  'h01-invalid-utf8.mdx': 'bad-encoding',
  'h03-nul-bytes.mdx': 'bad-encoding',
  'h04-utf16le.mdx': 'bad-encoding',
  'h07-unclosed-frontmatter.mdx': 'bad-frontmatter',
};

describe.skipIf(!isThere(nastyGenerator, 'the corpus of hostile inputs'))('hostile inputs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bindery-nasty-'));
  let pool: ChildPool;
  const parse = async (file: string): Promise<Seen> =>
    (await pool.run({ bytes: readFileSync(join(folder, file)), file }, { deadlineMs })) as Seen;

  beforeAll(() => {
    execFileSync(process.execPath, [nastyGenerator, folder], { stdio: 'ignore' });
    pool = childPool({ entry: new URL('./parse-child.ts', import.meta.url), slots: 2 });
  });
  afterAll(async () => {
    await pool.close();
    rmSync(folder, { recursive: true });
  });

  it('all end within the deadline in a child that goes on, the same every time', { timeout: 120_000 }, async () => {
    const files = readdirSync(folder).filter((file) => /^[a-i]\d+.*\.mdx?$/.test(file));
    expect(files.length).toBeGreaterThan(80);
    const wrong: string[] = [];
    for (const file of files) {
      const [seen, again] = await Promise.all([parse(file), parse(file)]);
      const codes = seen.diagnostics.map(({ code }) => code);
      if (JSON.stringify(seen) !== JSON.stringify(again)) wrong.push(`${file} differs from run to run`);
      if (seen.polluted > 0) wrong.push(`${file} changed a prototype`);
      if (seen.failure?.code !== failures[file]) wrong.push(`${file} failed with ${seen.failure?.code}`);
      if (reported[file] && !codes.includes(reported[file])) wrong.push(`${file} reported ${codes.join(', ')}`);
      if (JSON.stringify(seen).includes('canary-7f3a')) wrong.push(`${file} shows a secret`);
    }
    expect(wrong).toEqual([]);
  });

  it('have a place where the author must look', async () => {
    expect((await parse('c10-unclosed-jsx.mdx')).diagnostics).toMatchObject([
      { code: 'mdx-syntax', line: expect.any(Number) },
    ]);
    expect((await parse('g01-script-tags.mdx')).diagnostics).toMatchObject([
      { line: expect.any(Number), column: expect.any(Number) },
    ]);
  });

  it('lose no text that only looks odd', async () => {
    expect((await parse('h02-bom-crlf.mdx')).frontmatter).toEqual({ title: 'BOM' });
    expect((await parse('h02-bom-crlf.mdx')).tree).toContain('Old Mac');
    expect((await parse('h04-utf16le.mdx')).tree).toContain('Hi');
    expect(await parse('h05-empty.mdx')).toMatchObject({ format: 'mdx', frontmatter: {} });
    expect((await parse('h06-only-frontmatter.mdx')).frontmatter).toEqual({ title: 'only' });
    expect((await parse('h07-unclosed-frontmatter.mdx')).tree).toContain('"value":"Hi"');
    expect((await parse('h08-zalgo.mdx')).tree).toContain('Z\u0301\u0301');
    expect((await parse('a12-proto-keys.mdx')).frontmatter).not.toHaveProperty('constructor.prototype');
  });

  const configOf = (file: string): string => readFileSync(join(folder, file), 'utf8');

  it('as configuration are refused, or lose each bad entry with a report', async () => {
    const pages = {
      'index.mdx': 'x',
      'Index.mdx': 'x',
      'dir.mdx': 'x',
      'dir/index.mdx': 'x',
      'caf\u00e9.mdx': 'x',
      'cafe\u0301.mdx': 'x',
    };
    const model = await readDocsProject(memoryProject({ 'docs.json': configOf('e07-docs.json'), ...pages }));
    const codes = model.diagnostics.map(({ code }) => code);
    expect(codes).toEqual(
      expect.arrayContaining([
        'bad-navigation-entry',
        'bad-link',
        'missing-page',
        'path-collision',
        'page-collision',
        'redirect-loop',
        'bad-redirect',
      ]),
    );
    expect(model.redirects).toEqual([]);
    expect(JSON.stringify(model.navigation)).not.toMatch(/\.\.|passwd|javascript|windows/);
    await expect(
      readDocsProject(memoryProject({ 'docs.json': configOf('e08-docs-deep.json'), ...pages })),
    ).rejects.toMatchObject({ code: 'config-too-deep' });
    const cycle = {
      'docs.json': configOf('e09-docs-ref-cycle.json'),
      'e09-docs-ref-cycle.json': configOf('e09-docs-ref-cycle.json'),
    };
    await expect(readDocsProject(memoryProject({ ...cycle, ...pages }))).rejects.toMatchObject({
      code: 'config-cycle',
    });
  });

  it('as snippets in a circle are named by their chain', async () => {
    const snippets = Object.fromEntries(
      readdirSync(join(folder, 'snippets')).map((file) => [`snippets/${file}`, configOf(`snippets/${file}`)]),
    );
    const docs = JSON.stringify({ name: 'A', navigation: { pages: ['a'] } });
    const model = await readDocsProject(
      memoryProject({
        'docs.json': docs,
        'a.mdx': 'import A from "/snippets/e10-cycle-a.mdx"\nimport F from "/snippets/e11-fan-0.mdx"',
        ...snippets,
      }),
    );
    expect(model.pages[0]?.dependencies).toHaveLength(Object.keys(snippets).length);
    expect(model.diagnostics.find(({ code }) => code === 'snippet-cycle')?.message).toContain(
      'e10-cycle-a.mdx → snippets/e10-cycle-b.mdx',
    );
  });
});
