import { beforeAll, describe, expect, test } from 'vitest';
import type { PageEntry, SiteModel } from '#shared/docs/project/site-model.ts';
import { siteModelSchema } from '#shared/docs/project/site-model.ts';
import { DiagnosticTally } from '#shared/contracts/diagnostic-tally.ts';
import { exportReport } from './export-report.ts';
import { pageSlice } from './page-slice.ts';
import { pageKey } from './segment-keys.ts';
import { indexSite } from './site-index.ts';
import { testOptions, testProject } from './test-project.ts';
import { usedFiles } from './used-files.ts';

/*
 * A site model names the files that a page reaches in three forms: all of them in the page's entry, with or without the link targets of each snippet
 * (the latter in models of earlier versions), or only the direct names in the entry of each file. All three forms mean the same.
 */

const files = {
  'open.mdx': "import Outer from '/snippets/outer.mdx'\n\n<Outer/>\n",
  'staff.mdx': "---\ngroups: [staff]\n---\n\nimport Hush from '/snippets/hush.mdx'\n\n<Hush/>\n",
  'other.mdx': 'Text\n',
  'snippets/outer.mdx': "import Inner from './inner.mdx'\n\n<Inner/>\n",
  'snippets/inner.mdx': '[other](/other) ![open](/images/open.png)\n',
  'snippets/hush.mdx': "import Deep from './deep.mdx'\n\n<Deep/>\n",
  'snippets/deep.mdx': '![deep](/images/deep.png)\n',
  'images/open.png': 'png',
  'images/deep.png': 'png',
};

const changed = (model: SiteModel, page: (entry: PageEntry) => Partial<PageEntry>): SiteModel => ({
  ...model,
  pages: model.pages.map((entry) => ({ ...entry, ...page(entry) })),
});

const forms = {
  'all names': (model: SiteModel) => model,
  'all names, from an earlier version': (model: SiteModel) => ({
    ...model,
    snippets: model.snippets.map(({ linkTargets: _, ...rest }) => rest),
  }),
  'own names': (model: SiteModel) =>
    changed(model, ({ path }) => {
      const first = { open: 'snippets/outer.mdx', staff: 'snippets/hush.mdx' }[path];
      return first === undefined ? {} : { dependencies: [first], linkTargets: [`/${first}`] };
    }),
};

let whole: SiteModel;
beforeAll(async () => {
  const { model } = await testProject(files);
  const finding = { severity: 'warning' as const, code: 'x', message: 'A finding.', file: 'snippets/deep.mdx' };
  whole = siteModelSchema.parse({ ...model, diagnostics: [finding] });
});

describe.each(Object.entries(forms))('a model with %s', (_name, formOf) => {
  test('gives the same slice of a page, with the links and texts of all its snippets', () => {
    const slice = pageSlice(indexSite(formOf(whole)), 'open', testOptions);
    expect(slice).toEqual(pageSlice(indexSite(whole), 'open', testOptions));
    expect(slice.links).toMatchObject({ '/other': 'other.html', '/images/open.png': 'images/open.png' });
    expect(slice.dependencies.map(({ path }) => path)).toEqual(['snippets/inner.mdx', 'snippets/outer.mdx']);
  });

  test('leaves files and findings out that only left-out pages reach', () => {
    const model = formOf(whole);
    const exported = new Set(['open', 'other']);
    const isUsed = usedFiles({ ...model, namedFiles: [] }, exported);
    expect(['images/open.png', 'images/deep.png'].map((path) => isUsed({ path }))).toEqual([true, false]);
    const findings = (shown: string[]): number => {
      const links = { exported: new Set(shown), anchors: new Map<string, Set<string>>(), links: [] };
      const site = { ...links, failed: [], diagnostics: [], tally: new DiagnosticTally(), notListed: 0 };
      return (JSON.parse(exportReport(model, site, new Set()).text) as { site: unknown[] }).site.length;
    };
    expect([findings(['open', 'other']), findings(['open', 'other', 'staff'])]).toEqual([0, 1]);
  });

  test('gives a page another key when a snippet changes that it reaches, or where the links of that lead', () => {
    const keyOf = (model: SiteModel): string => pageKey('v1', indexSite(model), 'open', testOptions);
    const model = formOf(whole);
    const withChange = (path: string): SiteModel => ({
      ...model,
      snippets: model.snippets.map((file) => (file.path === path ? { ...file, sha256: 'f'.repeat(64) } : file)),
    });
    expect(keyOf(withChange('snippets/inner.mdx'))).not.toBe(keyOf(model));
    expect(keyOf(withChange('snippets/deep.mdx'))).toBe(keyOf(model));
    expect(keyOf({ ...model, pages: model.pages.filter(({ path }) => path !== 'other') })).not.toBe(keyOf(model));
  });
});
