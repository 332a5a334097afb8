import { afterAll, describe, expect, it } from 'vitest';
import type { ParsedPage } from '#shared/docs/project/parse-page.ts';
import { readDocsProject } from '#shared/docs/project/read-docs-project.ts';
import { childPool } from '#shared/docs/sandbox/child-pool.ts';
import { anything } from '#shared/docs/sandbox/child-request.ts';
import { memoryProject } from '../support/memory-project.ts';
import { canary, hostilePages } from './pages.ts';
import { projectOfBadEntries, projectOfItself, projectOfLevels, projectOfSnippets, snippetCount } from './projects.ts';

const deadlineMs = 10_000;

type Seen = Omit<ParsedPage, 'tree'> & { tree: string; polluted: number };

describe('hostile pages', () => {
  const pool = childPool({ entry: new URL('./parse-child.ts', import.meta.url), addons: true, slots: 2 });
  afterAll(() => pool.close());

  const parse = async (file: string): Promise<Seen> =>
    (await pool.run(
      { bytes: Buffer.from(hostilePages[file]?.source ?? ''), file },
      { expects: anything, deadlineMs },
    )) as Seen;

  it.each(Object.entries(hostilePages))(
    '%s ends within its deadline, with the same result every time, in a child that keeps working',
    async (file, { failure, reports }) => {
      const [seen, again] = await Promise.all([parse(file), parse(file)]);
      expect(again).toEqual(seen);
      expect(seen.polluted).toBe(0);
      expect(seen.failure?.code).toBe(failure);
      if (reports !== undefined) expect(seen.diagnostics.map(({ code }) => code)).toContain(reports);
      expect(JSON.stringify(seen)).not.toContain(canary);
    },
    30_000,
  );

  it('are reported with their place in the source', async () => {
    expect((await parse('open-elements.mdx')).diagnostics).toMatchObject([
      { code: 'mdx-syntax', line: expect.any(Number) },
    ]);
    expect((await parse('scripts-of-html.mdx')).diagnostics).toMatchObject([
      { code: 'mdx-repaired', line: 3, column: 4 },
      { code: 'mdx-repaired', line: 3, column: 24 },
    ]);
  });

  it('keep text that only looks unusual', async () => {
    expect((await parse('byte-order-mark.mdx')).frontmatter).toEqual({ title: 'BOM' });
    expect((await parse('byte-order-mark.mdx')).tree).toContain('Old Mac');
    expect((await parse('utf16.mdx')).tree).toContain('Hi');
    expect(await parse('empty.mdx')).toMatchObject({ format: 'mdx', frontmatter: {} });
    expect((await parse('only-frontmatter.mdx')).frontmatter).toEqual({ title: 'only' });
    expect((await parse('open-frontmatter.mdx')).tree).toContain('"value":"Hi"');
    expect((await parse('combining-marks.mdx')).tree).toContain('Z\u0301\u0301');
    expect((await parse('keys-of-prototypes.mdx')).frontmatter).toEqual({ title: 'Keys' });
  });
});

describe('hostile projects', () => {
  it('lose each bad entry, and the report names it', async () => {
    const model = await readDocsProject(memoryProject(projectOfBadEntries));
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
    expect(JSON.stringify(model.settings)).not.toMatch(/script/);
  });

  it('are refused where no part can be left out', async () => {
    await expect(readDocsProject(memoryProject(projectOfLevels(2_000)))).rejects.toMatchObject({
      code: 'config-too-deep',
    });
    await expect(readDocsProject(memoryProject(projectOfLevels(33)))).rejects.toMatchObject({
      code: 'config-too-deep',
    });
    await expect(readDocsProject(memoryProject(projectOfItself))).rejects.toMatchObject({ code: 'config-cycle' });
  });

  it('name the chain of snippets that import each other', async () => {
    const model = await readDocsProject(memoryProject(projectOfSnippets));
    expect(model.pages[0]?.dependencies).toHaveLength(snippetCount);
    expect(model.diagnostics.find(({ code }) => code === 'snippet-cycle')?.message).toContain(
      'circle-a.mdx → snippets/circle-b.mdx',
    );
  });
});
