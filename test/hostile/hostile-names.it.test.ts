import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { readDocsProject } from '#shared/docs/project/read-docs-project.ts';
import type { SiteModel } from '#shared/docs/project/site-model.ts';
import { pageSlice } from '#shared/docs/render/page-slice.ts';
import { renderPage } from '#shared/docs/render/render-page.ts';
import { closingFrom } from '#shared/docs/render/test-project.ts';
import { renderSite } from '#shared/docs/render/site/render-site.ts';
import { indexSite } from '#shared/docs/render/site-index.ts';
import { portableName } from '#shared/export/bundle/archive-names.ts';
import { bundlePathProblem } from '#shared/export/bundle/bundle-names.ts';
import { joinSegments } from '#shared/export/bundle/join-segments.ts';
import { packRendered } from '#shared/export/bundle/pack-export.ts';
import type { FileToPack } from '#shared/export/bundle/segment-writer.ts';
import { verifyBundle } from '#shared/export/bundle/verify-bundle.ts';
import type { RenderedPage } from '#shared/contracts/stored-objects.ts';
import { makePlan } from '#services/orchestrator/make-plan.ts';
import { memoryProject } from '../support/memory-project.ts';
import { siteModel } from '../support/site-model.ts';

const domain = 'docs';
const options = { groups: [], deployment: 'client-hosted', onPageError: 'fail', allowTenantScripts: true } as const;

/**
 * Makes the bundle of a site model as the services do; `text` returns the source of a file. Returns the result of verifying the bundle, and the names
 * in it.
 */
async function bundleOf(model: SiteModel, text: (file: string) => string, selection?: readonly string[]) {
  const { plan } = await makePlan({
    organization: 'acme',
    domain,
    contentVersion: model.contentVersion,
    label: undefined,
    options: { ...options, groups: [] },
    model,
    selection,
    rendererVersion: 'r-0123456789ab',
  });
  const exported = plan.chunks.flatMap((chunk) => (chunk.kind === 'pages' ? chunk.paths : []));
  const index = indexSite(model, exported);
  const sidecars: Parameters<typeof closingFrom>[1][number][] = [];
  const segments: Parameters<typeof joinSegments>[0][number][] = [];
  const add = async (files: readonly FileToPack[], pages: RenderedPage[] = []) => {
    const { bytes, ...summary } = await packRendered(domain, files);
    sidecars.push({ version: 1 as const, ...summary, pages, diagnostics: [] });
    segments.push({ ...summary, key: String(segments.length), open: async () => Readable.from([bytes]) });
  };
  for (const chunk of plan.chunks) {
    if (chunk.kind === 'site') await add(renderSite(model, { ...options, domain }, exported));
    else if (chunk.kind === 'assets') await add(chunk.paths.map((path) => ({ path, body: Buffer.from(text(path)) })));
    else {
      const made = chunk.paths.map((path) => {
        const slice = pageSlice(index, path, options);
        return renderPage({ slice, source: text(slice.file), dependencies: {}, options });
      });
      await add(
        made.flatMap(({ files }) => files),
        made.map(({ page }) => page),
      );
    }
  }
  await add(await closingFrom({ model, plan }, sidecars));
  const { problems } = await verifyBundle(joinSegments(segments));
  const names = sidecars.flatMap(({ files }) => files.map(({ path }) => path.slice(domain.length + 1)));
  return { problems, names };
}

const update = '<Update label="v1">New</Update>';
const hostile: Record<string, string> = {
  'start.mdx': update,
  'INDEX.mdx': 'x',
  '404.mdx': 'x',
  'changelog.mdx': update,
  'changelog/RSS.xml': '<a/>',
  'news.mdx': update,
  'news.html/x.mdx': 'x',
  'robots.TXT': 'x',
  'LLMS.TXT': 'x',
  'Llms-Full.txt': 'x',
  'sitemap.xml': '<a/>',
  '_Bindery/theme.css': 'a{}',
  '_bindery/manifest.json': '{}',
  '_bindery/x.mdx': 'x',
  'Guides/a.mdx': 'x',
  'guides/b.mdx': 'x',
  'stra\u00dfe.mdx': 'x',
  'STRASSE/x.png': 'x',
  'cafe\u0301/x.png': 'x',
  'caf\u00e9/y.png': 'x',
};
const redirects = [
  '/Start',
  '/START/',
  '/con',
  '/aux/x',
  '/a.',
  '/guides',
  '/404',
  '/_bindery/x',
  `/${'x'.repeat(300)}`,
].map((source) => ({ source, destination: '/start', permanent: true }));

const sound = (names: readonly string[]) => {
  expect(names.filter((name) => bundlePathProblem(name) !== undefined)).toEqual([]);
  expect(new Set(names.map(portableName)).size).toBe(names.length);
};

test('with any file names, the bundle can be verified and unpacked everywhere', async () => {
  const settings = {
    name: 'Test',
    theme: 'mint',
    colors: { primary: '#0f766e' },
    navigation: { pages: ['start'] },
    redirects,
  };
  const files: Record<string, string> = { 'docs.json': JSON.stringify(settings), ...hostile };
  const project = await readDocsProject(memoryProject(files));
  const { problems, names } = await bundleOf(
    { ...project, contentVersion: `cv_${'0'.repeat(32)}` },
    (file) => files[file] ?? '',
  );
  expect(problems).toEqual([]);
  sound(names);
  expect(names).toEqual(
    expect.arrayContaining([
      '404.html',
      'INDEX.html',
      'Guides/a.html',
      'guides/b.html',
      'LLMS.TXT',
      'news/rss.xml',
      'sitemap.xml',
    ]),
  );
});

test('the same holds for content that was published before names were checked, and for a selection of its pages', async () => {
  const pages = Object.keys(hostile).filter((file) => file.endsWith('.mdx'));
  const assets = Object.fromEntries(Object.entries(hostile).filter(([file]) => !file.endsWith('.mdx')));
  const model = siteModel(
    [...pages, `${'y'.repeat(252)}.mdx`].map((file) => ({
      path: file.replace('.mdx', ''),
      text: hostile[file] ?? 'x',
    })),
    { assets },
  );
  const text = (file: string) => hostile[file] ?? 'x';
  for (const selection of [undefined, ['INDEX', '404', 'news', 'news.html/x'], ['start']]) {
    const { problems, names } = await bundleOf({ ...model, redirects }, text, selection);
    expect(problems).toEqual([]);
    sound(names);
  }
});
