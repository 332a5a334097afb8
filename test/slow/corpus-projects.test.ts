import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { type DocsProject, readDocsProject } from '#shared/docs/project/read-docs-project.ts';
import { satteriPageParser } from '#shared/docs/project/satteri-page-parser.ts';
import { type NavigationNode, siteModelSchema } from '#shared/docs/project/site-model.ts';
import { corpusFolder, isThere, localProject } from '../support/docs-projects.ts';

/** Expected numbers of pages in the model and in its navigation, and the known problems of the project. */
const expected = {
  'turso-docs': { pages: 280, inNavigation: 267, codes: ['redirect-hides-page', 'unused-integration'] },
  fastmcp: { pages: 437, inNavigation: 417, codes: ['setting-without-effect'] },
  keep: { pages: 240, inNavigation: 238, codes: ['missing-page', 'page-collision'] },
  meilisearch: {
    pages: 440,
    inNavigation: 439,
    codes: ['bad-redirect', 'setting-without-effect', 'unused-integration'],
  },
  'mintlify-docs': { pages: 1061, inNavigation: 984, codes: ['openapi-operation-missing', 'setting-without-effect'] },
};

function pagesIn(nodes: readonly NavigationNode[]): string[] {
  return nodes.flatMap((node) => {
    if (node.kind === 'page') return [node.path];
    if (node.kind === 'link') return [];
    return [...(node.kind === 'group' && node.root ? [node.root] : []), ...pagesIn(node.children)];
  });
}

describe.skipIf(!isThere(corpusFolder, 'the corpus of real projects')).each(Object.entries(expected))(
  '%s',
  (name, what) => {
    const folder = `${corpusFolder}/${name}`;
    let model: DocsProject;

    it('is read completely', async () => {
      const project = await localProject(folder);
      model = await readDocsProject(project);
      siteModelSchema.parse({ contentVersion: `cv_${'0'.repeat(32)}`, ...model });
    });

    it('has its pages, and reports its existing problems', () => {
      expect(model.pages).toHaveLength(what.pages);
      expect(model.pages.filter((page) => page.inNavigation)).toHaveLength(what.inNavigation);
      expect([...new Set(model.diagnostics.map(({ code }) => code))].sort()).toEqual(what.codes);
    });

    it('resolves every page of its navigation', () => {
      const known = new Set(model.pages.map(({ path }) => path));
      expect(pagesIn(model.navigation).filter((path) => !known.has(path))).toEqual([]);
      expect(new Set(pagesIn(model.navigation)).size).toBe(what.inNavigation);
    });

    it('has pages and snippets that parse as MDX (every fourth is tried)', { timeout: 60_000 }, async () => {
      const sources = [...model.pages.map(({ file }) => file), ...model.snippets.map(({ path }) => path)];
      const tried = [...new Set(sources)].filter((file, index) => /\.mdx?$/.test(file) && index % 4 === 0);
      const refused: string[] = [];
      for (const file of tried) {
        const page = satteriPageParser.parse(await readFile(`${folder}/${file}`), file);
        const isMdx = page.format === 'mdx' && page.diagnostics.every(({ code }) => code !== 'mdx-syntax');
        // Two Markdown files of the project are not pages.
        if (!isMdx && !file.startsWith('agent-context/')) refused.push(file);
      }
      expect(refused).toEqual([]);
    });
  },
);
