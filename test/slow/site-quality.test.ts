import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { HtmlValidate, StaticConfigLoader } from 'html-validate';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ProjectFiles } from '#shared/docs/project/project-files.ts';
import { decoded } from '#shared/docs/project/url-policy.ts';
import { pageNames } from '#shared/docs/render/bundle-paths.ts';
import { AnchorNames } from '#shared/docs/render/content/anchor-names.ts';
import { siteRedirects } from '#shared/docs/render/redirects.ts';
import { anchorOf } from '#shared/docs/render/content/content-context.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { type SeededRandom, seededRandom } from '../support/chaos/fault-injection.ts';
import { corpusFolder, generatedFiles, localProject, ownDocumentation } from '../support/docs-projects.ts';
import { memoryProject } from '../support/memory-project.ts';
import { newFolder } from '../support/new-folder.ts';
import { openBrowser } from '../support/open-browser.ts';
import { publishedProject } from '../support/published-project.ts';
import { findBarriers } from '../support/find-barriers.ts';
import { unpackedSite } from '../support/unpacked-site.ts';

/*
 * Checks the quality of whole sites: HTML is valid, nothing is a barrier to readers with disabilities, the layout does not shift while a page loads,
 * pages can be read without scripts, scripts are small, and links work. Links are checked on all pages, the rest on a random sample of each project.
 * To choose the sample, its size, or the projects:
 *
 *   BINDERY_QUALITY_SEED=7 BINDERY_QUALITY_PAGES=200 npm run test:slow -- site-quality -t turso-docs
 */

const seed = Number(process.env.BINDERY_QUALITY_SEED ?? 1);
const pagesOfSample = Number(process.env.BINDERY_QUALITY_PAGES ?? 8);
const minuteMs = 60_000;
const mostShift = 0.05;
const mostScriptBytes = 30_000;

const fromCorpus = ['turso-docs', 'fastmcp', 'keep', 'meilisearch', 'mintlify-docs'].map((name) => ({
  name,
  files: () => localProject(join(corpusFolder, name)),
}));
const own: { name: string; files: () => Promise<ProjectFiles> }[] = [
  { name: 'our own documentation', files: () => localProject(ownDocumentation) },
  { name: 'a generated project', files: async () => memoryProject(generatedFiles('Generated', 60)) },
];
const projects = [...own, ...(existsSync(corpusFolder) ? fromCorpus : [])];

const validator = new HtmlValidate(new StaticConfigLoader({ extends: ['html-validate:standard'] }));

type Report = {
  brokenLinks: { page: string; target: string; reason: string }[];
  pages: Record<string, { code: string; message: string }[]>;
};

for (const { name, files } of projects)
  describeWithServers(['chromium'], name, () => {
    let folder: string;
    let browser: Browser;
    let project: ProjectFiles;
    let report: Report;
    /** Files of pages by their paths. */
    const sources = new Map<string, string>();
    let sample: string[];
    /** Targets of redirects, by their sources. */
    let ends: ReadonlyMap<string, string>;

    beforeAll(async () => {
      folder = newFolder();
      project = await files();
      const published = await publishedProject(project);
      const { pages: all, redirects } = published.model;
      ends = siteRedirects(redirects, (path) => all.some((page) => page.path === path)).named;
      const pages = await unpackedSite(published, folder);
      for (const { path, file } of published.model.pages) sources.set(path, file);
      report = JSON.parse(readFileSync(join(folder, '_bindery/report.json'), 'utf8')) as Report;
      const random = seededRandom(seed);
      sample = drawn(
        pages.map(({ path }) => path),
        pagesOfSample,
        random,
      );
      process.stdout.write(`${sample.length} of ${pages.length} pages, seed ${seed}\n`);
      browser = await openBrowser();
    }, 10 * minuteMs);
    afterAll(() => browser?.close());

    const htmlOf = (path: string): string => readFileSync(join(folder, `${path}.html`), 'utf8');

    async function onEachPage(
      options: BrowserContextOptions,
      look: (page: Page, path: string, at: number) => Promise<void>,
    ) {
      for (const [at, path] of sample.entries()) {
        const context = await browser.newContext(options);
        await context.addInitScript(countShifts);
        // Pictures and frames of other sites are not part of the export.
        await context.route(/^https?:/, (route) => route.abort());
        const page = await context.newPage();
        await page.goto(`file://${folder}/${path.split('/').map(encodeURIComponent).join('/')}.html`);
        await look(page, path, at);
        await context.close();
      }
    }

    test('its pages are valid HTML', { timeout: 5 * minuteMs }, async () => {
      const problems: string[] = [];
      for (const path of [...sample, '404']) {
        const { results } = await validator.validateString(htmlOf(path));
        for (const { line, column, ruleId, message } of results.flatMap(({ messages }) => messages))
          problems.push(`${path}.html:${line}:${column} ${ruleId}: ${message}`);
      }
      expect(problems).toEqual([]);
    });

    test('only links that are broken in the source are broken', { timeout: 5 * minuteMs }, async () => {
      const known = knownBroken(report, ends);
      const names = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
      const there = new Set(names);
      const anchorsOf = new Map<string, AnchorNames>();
      // Pages that redirect have no anchors.
      const documents = names.filter((name) => name.endsWith('.html') && sources.has(name.slice(0, -'.html'.length)));
      for (const name of documents)
        anchorsOf.set(name, new AnchorNames(attributesIn(readFileSync(join(folder, name), 'utf8'), 'id')));
      const broken: string[] = [];
      for (const name of documents) {
        const html = readFileSync(join(folder, name), 'utf8');
        for (const address of [...attributesIn(html, 'href'), ...attributesIn(html, 'src')]) {
          if (/^[a-z]+:/i.test(address) || address === '') continue;
          const at = address.indexOf('#');
          const [path, hash] = at < 0 ? [address, undefined] : [address.slice(0, at), address.slice(at + 1)];
          const target = path === '' ? name : posix.join(posix.dirname(name), decoded(path.split('?')[0] ?? ''));
          const anchors = anchorsOf.get(target);
          const isThere = there.has(target) && (!hash || anchors === undefined || anchors.find(hash) !== undefined);
          const anchor = hash === undefined ? undefined : decoded(hash);
          const written = `${target.replace(/\.html$/, '')}${anchor === undefined ? '' : `#${anchor}`}`;
          const page = name.slice(0, -'.html'.length);
          if (!isThere && !known.has(`${page} ${written}`)) broken.push(`${page}: ${address}`);
        }
      }
      expect(broken).toEqual([]);
    });

    test('links that are reported as broken are broken in the source', async () => {
      const wrong: string[] = [];
      for (const { page, target, reason } of report.brokenLinks) {
        const [path = '', hash = ''] = target.split('#', 2);
        const file = pageNames(decoded(path).replace(/^\/+|\/+$/g, ''))
          .map((name) => sources.get(name))
          .find((name) => name !== undefined);
        const text =
          file === undefined ? undefined : Buffer.from(await project.read(file, Number.MAX_SAFE_INTEGER)).toString();
        const isWrong = text !== undefined && (reason !== 'no such anchor' || hasHeading(text, decoded(hash)));
        if (isWrong) wrong.push(`${page}: ${target} (${reason})`);
      }
      expect(wrong).toEqual([]);
    });

    // Each page is searched for barriers at one width in light and at the other in dark, alternately: axe takes seconds for a page.
    for (const [half, width] of [1440, 390].entries()) {
      test(`at ${width} px there are no barriers, light or dark, and nothing moves`, {
        timeout: 30 * minuteMs,
      }, async () => {
        const problems: string[] = [];
        await onEachPage({ viewport: { width, height: 900 }, colorScheme: 'light' }, async (page, path, at) => {
          const { shift, wide } = await page.evaluate<{ shift: number; wide: number }>(afterFrames);
          if (shift >= mostShift) problems.push(`${path}: moves by ${shift.toFixed(3)}`);
          if (wide > 0) problems.push(`${path}: is ${wide} px wider than the window`);
          const isDark = (at + half) % 2 === 1;
          await page.evaluate(`document.documentElement.classList.toggle('dark', ${isDark})`);
          for (const barrier of await findBarriers(page))
            problems.push(`${path} (${isDark ? 'dark' : 'light'}): ${barrier}`);
        });
        expect(problems).toEqual([]);
      });
    }

    test('everything can be read without scripts', { timeout: 10 * minuteMs }, async () => {
      const problems: string[] = [];
      await onEachPage({ viewport: { width: 1440, height: 900 }, javaScriptEnabled: false }, async (page, path) => {
        for (const text of await page.evaluate<string[]>(hiddenTexts)) problems.push(`${path}: ${text}`);
      });
      expect(problems).toEqual([]);
    });

    test(`the scripts of a page without diagrams have less than ${mostScriptBytes / 1000} kB`, () => {
      const sizes = new Map<string, number>();
      const sizeOf = (file: string): number => {
        const size = sizes.get(file) ?? gzipSync(readFileSync(join(folder, file))).length;
        sizes.set(file, size);
        return size;
      };
      const large = sample.flatMap((path) => {
        const scripts = [...htmlOf(path).matchAll(/<script src="([^"]+)"/g)].map(([, address = '']) =>
          posix.join(posix.dirname(path), decoded(address)),
        );
        if (scripts.includes('_bindery/diagrams.js')) return [];
        const bytes = scripts
          .filter((file) => file.startsWith('_bindery/'))
          .reduce((sum, file) => sum + sizeOf(file), 0);
        return bytes < mostScriptBytes ? [] : [`${path}: ${bytes}`];
      });
      expect(large).toEqual([]);
    });
  });

/** A random sample of distinct pages. */
function drawn(pages: readonly string[], count: number, random: SeededRandom): string[] {
  const left = [...pages];
  const taken: string[] = [];
  while (taken.length < count && left.length > 0) taken.push(...left.splice(random.between(0, left.length - 1), 1));
  return taken.sort();
}

/** `page target` of every link that the report of the export calls broken, as the page's file has it. */
function knownBroken({ brokenLinks, pages }: Report, ends: ReadonlyMap<string, string>): ReadonlySet<string> {
  const plain = (target: string): string => decoded(target).replace(/^\/+|\/+$/g, '');
  const reported = Object.entries(pages).flatMap(([page, found]) =>
    found.flatMap(({ code, message }) => {
      const target = code === 'broken-link' ? /"((?:[^"\\]|\\.)*)"/.exec(message)?.[1] : undefined;
      return target === undefined ? [] : [{ page, target }];
    }),
  );
  return new Set(
    [...brokenLinks, ...reported].flatMap(({ page, target }) => {
      const [path = '', hash] = target.split('#', 2);
      const end = hash === undefined ? '' : `#${decoded(hash)}`;
      const redirected = ends.get(`/${plain(path)}`)?.split('#')[0] ?? '';
      return [...pageNames(plain(path)), redirected].map((name) => `${page} ${name}${end}`);
    }),
  );
}

/** Values of an attribute in a page that `writeHtml` wrote: no text and no value has a `<` or `>`. */
function attributesIn(html: string, attribute: string): Set<string> {
  const values = new Set<string>();
  const pattern = new RegExp(` ${attribute}="([^"]*)"`, 'g');
  for (const [tag] of html.matchAll(/<[a-z][^<>]*>/g))
    for (const [, value = ''] of tag.matchAll(pattern))
      values.add(
        value.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
      );
  return values;
}

/** True if a line of the source is a heading with exactly this anchor. */
const hasHeading = (source: string, anchor: string): boolean =>
  source
    .replace(/^(```|~~~)[\s\S]*?^\1/gm, '')
    .split('\n')
    .some((line) => {
      const [, text = ''] = /^#{1,6}\s+(.*?)\s*#*$/.exec(line) ?? [];
      return text !== '' && anchorOf(text.replace(/<[^>]*>|[`*_]/g, '')) === anchor;
    });

const countShifts = `
  window.shifted = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });`;

/** Resolves after two frames, because the browser reports layout shifts of the last paint after the next frame. */
const afterFrames = `new Promise((resolve) => {
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => {
    resolve({ shift: window.shifted, wide: document.documentElement.scrollWidth - innerWidth });
  })));
})`;

/** Texts of the content that readers cannot reach without scripts: they are not visible, and are not in an element that opens without scripts. */
const hiddenTexts = `{
  const found = [];
  const walker = document.createTreeWalker(document.querySelector('.mdx-content'), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (walker.currentNode.data.trim() === '') continue;
    // These texts appear on hover or focus, to screen readers, or in one colour scheme. Without scripts, the titles of tabs are above their panels.
    if (element.closest('.tooltip-content, .tabs-list, .sr-only, svg, [hidden], .katex-mathml, [class*="dark:"], .hidden')) continue;
    if (element.closest('details:not([open])') || element.checkVisibility()) continue;
    found.push(walker.currentNode.data.trim().slice(0, 80));
  }
  found.slice(0, 5);
}`;
