import { fromHtml } from 'hast-util-from-html';
import type { Element } from 'hast';
import { visit } from 'unist-util-visit';
import { describe, expect, test } from 'vitest';
import { pictureSize } from '#shared/docs/project/picture-size.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { cardFile } from '../bundle-paths.ts';
import { pageSlice } from '../page-slice.ts';
import { handleRenderRequest } from '../render-request.ts';
import { indexSite } from '../site-index.ts';
import { testOptions, testProject } from '../test-project.ts';

const docs = {
  name: 'Acme',
  theme: 'mint',
  colors: { primary: '#0f766e' },
  thumbnails: {},
  seo: { metatags: { canonical: 'https://acme.test/docs/' } as Record<string, string> },
  navigation: { groups: [{ group: 'Start', pages: ['guides/page'] }] },
};

async function rendered(settings: object, frontmatter: string) {
  const project = await testProject({
    'docs.json': JSON.stringify({ ...docs, ...settings }),
    'guides/page.mdx': `---\n${frontmatter}\n---\n\nText.\n`,
  });
  const slice = pageSlice(indexSite(project.model), 'guides/page', testOptions);
  const source = project.text('guides/page.mdx');
  const asked = { kind: 'page' as const, slice, source, dependencies: {}, options: testOptions };
  const response = await handleRenderRequest(asked, () =>
    Promise.reject(new Error('the child asks nothing for a page')),
  );
  if (response.kind !== 'page') throw new Error('the response is not a page');
  const meta = new Map<string, string>();
  visit(fromHtml(response.files[0]?.body ?? ''), 'element', ({ tagName, properties }: Element) => {
    if (tagName === 'meta') meta.set(String(properties.name ?? properties.property), String(properties.content));
  });
  const card = response.pictures?.find(({ path }) => path === cardFile('guides/page'))?.body;
  return { meta, card, page: response.page, model: project.model };
}

describe('the card of a page', () => {
  test('is a PNG of its own that the page names by its absolute address', async () => {
    const { meta, card, page, model } = await rendered({}, 'title: Quick start\ndescription: In five minutes');
    expect(pictureSize(card ?? new Uint8Array())).toMatchObject({ width: 1200, height: 630 });
    expect(Object.fromEntries(meta)).toMatchObject({
      'og:image': `https://acme.test/docs/${cardFile('guides/page')}`,
      'og:image:type': 'image/png',
      'og:image:width': '1200',
      'og:image:height': '630',
      'og:image:alt': 'Quick start',
      'twitter:card': 'summary_large_image',
    });
    expect([...page.diagnostics, ...model.diagnostics]).toEqual([]);
  });

  test('has the same bytes each time', async () => {
    const hashes = [];
    for (let time = 0; time < 2; time++) {
      const { card } = await rendered({}, 'title: Quick start');
      hashes.push(sha256Of(card ?? ''));
    }
    expect(hashes[0]).toBe(hashes[1]);
    // The hash is the same on every machine, because the libraries and the font have fixed versions.
    expect(hashes[0]).toBe('c0db0ed06648c2f033af64c0712f6f24d061ccaaaf4647eb3751865c2b33b49e');
  });

  test.each([
    ['the title', {}, 'title: Other'],
    ['the description', {}, 'title: Quick start\ndescription: More'],
    ['the appearance', { thumbnails: { appearance: 'dark' } }, 'title: Quick start'],
    ['the appearance of the site', { appearance: { default: 'dark' } }, 'title: Quick start'],
    ['the font', { thumbnails: { fonts: { family: 'roboto slab' } } }, 'title: Quick start'],
    ['the colour', { colors: { primary: '#aa0000' } }, 'title: Quick start'],
    ['the name of the site', { name: 'Other' }, 'title: Quick start'],
  ])('shows %s', async (_what, settings, frontmatter) => {
    const { card } = await rendered({}, 'title: Quick start');
    const { card: other } = await rendered(settings, frontmatter);
    expect(other).toBeDefined();
    expect(sha256Of(other ?? '')).not.toBe(sha256Of(card ?? ''));
  });

  test.each([
    ['a site without thumbnails', { thumbnails: undefined }, 'title: A', undefined],
    ['a site whose address is not known', { seo: {} }, 'title: A', undefined],
    [
      'a site with one picture for all pages',
      { seo: { metatags: { ...docs.seo.metatags, 'og:image': '/a.png' } } },
      'title: A',
      'https://acme.test/docs/a.png',
    ],
    ['a page with its own picture', {}, 'title: A\n"og:image": own.png', 'https://acme.test/docs/own.png'],
  ])('is not made for %s', async (_what, settings, frontmatter, picture) => {
    const { card, meta, page } = await rendered(settings, frontmatter);
    expect(card).toBeUndefined();
    expect(meta.get('og:image')).toBe(picture);
    expect(meta.has('og:image:width')).toBe(false);
    expect(page.diagnostics).toEqual([]);
  });

  test.each(['クイックスタート', 'התחלה מהירה', 'بداية', 'Ṡ̈tart'])(
    'is not made of a title with letters that the font lacks, with a diagnostic: %s',
    async (title) => {
      const { card, meta, page } = await rendered({}, `title: ${title}`);
      expect([card, meta.get('og:image'), meta.get('twitter:card')]).toEqual([undefined, undefined, 'summary']);
      expect(page.diagnostics).toMatchObject([{ severity: 'info', code: 'card-left-out', file: 'guides/page.mdx' }]);
    },
  );

  test.each(['Быстрый старт', 'Γρήγορη εκκίνηση', 'Bắt đầu nhanh', '🚀 Start', 'e\u0301t\u00e9'])(
    'is made of %s',
    async (title) => {
      const { card, page } = await rendered({}, `title: "${title}"\ndescription: クイック`);
      expect(card?.length).toBeGreaterThan(5_000);
      expect(page.diagnostics).toEqual([]);
    },
  );

  test('is made quickly of a title that is far too long', async () => {
    const { card } = await rendered({}, `title: ${'x'.repeat(100_000)}`);
    expect(card?.length).toBeGreaterThan(5_000);
  });

  test('reports settings without effect', async () => {
    const thumbnails = { appearance: 'blue', fonts: { family: 'Inter' } };
    const { model } = await rendered({ thumbnails, seo: {} }, 'title: A');
    expect(model.diagnostics.map(({ code, message }) => [code, /^"([\w.]+)"/.exec(message)?.[1]])).toEqual([
      ['bad-setting', 'thumbnails.appearance'],
      ['setting-without-effect', 'thumbnails'],
      ['setting-without-effect', 'thumbnails.fonts.family'],
    ]);
  });
});
