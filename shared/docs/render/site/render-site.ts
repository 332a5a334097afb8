import type { SiteModel } from '#shared/docs/project/site-model.ts';
import { iconForm, pictureOfIcon } from '#shared/docs/icons/icon-form.ts';
import { iconElement } from '#shared/docs/render/content/icon.ts';
import { classifyUrl } from '#shared/docs/project/url-policy.ts';
import { notFoundFile } from '#shared/export/bundle/bundle-names.ts';
import { themeName } from '#shared/docs/render/shell/page-shell.ts';
import {
  encodePath,
  pageAddress,
  pageFile,
  pageHref,
  pagePathOfAddress,
  pathToTop,
  type RenderedFile,
  siteBase,
} from '../bundle-paths.ts';
import { contentPolicy } from '../content-policy.ts';
import { html, SafeHtml, scriptJson } from '../html.ts';
import { filled } from '../interface-texts/interface-texts.ts';
import { wildcardRedirectsPath } from '#shared/contracts/stored-objects.ts';
import { languageOf } from '../interface-texts/language.ts';
import { firstPage, type Sidebar } from '../navigation-places.ts';
import type { SiteRenderOptions } from '../page-slice.ts';
import { type SiteSlice, siteSlice } from '../segment-keys.ts';
import { siteRedirects, withWildcards } from '../redirects.ts';
import { namesOfSite, indexSite, resolveTarget, type SiteIndex } from '../site-index.ts';
import { assistantSheet, notFoundScript, siteScripts, textsScript, themeSheet } from './browser-files.ts';
import { agentSkillFiles } from './agent-skill-files.ts';
import { isListed, llmsText, robotsText, sitemapXml, skillOfSite } from './crawler-files.ts';
import { backdropCss } from './backdrop-css.ts';
import { fontCss } from './font-css.ts';
import type { SidebarEntry, SidebarFile, SidebarIcon } from './page-globals.ts';
import { siteConfigScript } from './site-config.ts';
import { writeContent } from '../content/write-content.ts';
import { paletteCss } from './palette.ts';
import { thirdPartyNotices } from './third-party.ts';

/**
 * Files of the site segment, sorted by path: theme, scripts, notices, sidebars, settings, redirects, and the files for crawlers. A file at the
 * project's root replaces a generated one of the same name, except `404.html`. `exported`: the paths of the plan's pages; by default all pages that
 * need no group.
 */
export function renderSite(model: SiteModel, options: SiteRenderOptions, exported?: Iterable<string>): RenderedFile[] {
  // The files are rendered from the slice alone, because the segment's key is made from the slice.
  const slice = siteSlice(model, options, exported);
  const { ofPages, others } = siteFiles(indexSite(indexable(slice, model), slice.exported), slice.options);
  return [...ofPages, ...others()]
    .map(([path, make]) => [path, make()] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, text]) => ({ path, body: Buffer.from(text) }));
}

/** Files of the site segment by path, each made when it is needed. */
export type SiteFiles = {
  /** Files that pages load, the page for unknown addresses, and the list of redirects. */
  ofPages: ReadonlyMap<string, () => string>;
  /** Files for crawlers, and pages of redirects. Their names yield to those of the project, which takes as long as all names of the bundle. */
  others: () => ReadonlyMap<string, () => string>;
};

/** The files of the site segment of an indexed model. */
export function siteFiles(index: SiteIndex, options: SiteSlice['options']): SiteFiles {
  const { settings } = index.model;
  const fonts = settings.fonts ? `\n${fontCss(settings.fonts, (path) => index.files.has(path))}` : '';
  const backdrop = backdropCss(settings.background, (path) => index.files.has(path));
  const files = new Map<string, () => string>([
    ['_bindery/theme.css', () => `${paletteCss(settings)}\n${themeSheet}${fonts}${backdrop}`],
    ['_bindery/config.js', () => siteConfigScript(options, siteBase(settings), settings.integrations)],
    ['_bindery/third-party.txt', () => thirdPartyNotices],
    ['_bindery/assistant.css', () => assistantSheet],
  ]);
  for (const [name, text] of siteScripts()) files.set(`_bindery/${name}`, () => text);
  for (const [name, text] of textsFiles(index)) files.set(`_bindery/texts/${name}.js`, () => text);
  for (const sidebar of index.sidebars)
    files.set(`_bindery/navigation/${sidebar.id}.js`, () => navigationScript(sidebar, index));
  files.set(notFoundFile, () => notFoundPage(index));
  const redirects = withWildcards(index.model.redirects);
  if (redirects.length > 0)
    files.set(wildcardRedirectsPath, () => `${JSON.stringify({ formatVersion: 1, redirects }, null, 1)}\n`);
  return {
    ofPages: files,
    others: () => {
      const { names } = namesOfSite(index.model, index.exported);
      const generated: [string, () => string][] = [
        ['robots.txt', () => robotsText(settings)],
        ['sitemap.xml', () => sitemapXml(index)],
        ['llms.txt', () => llmsText(index)],
        ['skill.md', () => skillOfSite(index)],
        ...agentSkillFiles(index),
      ];
      const free = generated.filter(([path]) => names.take(path) === undefined);
      return new Map([...free, ...redirectPages(index, names).map(([path, text]) => [path, () => text] as const)]);
    },
  };
}

/** Texts of scripts, in each language of the pages. */
function textsFiles(index: SiteIndex): Map<string, string> {
  const codes = [index.defaultLanguage, ...index.languages, ...[...index.pages.values()].map((page) => page.language)];
  const languages = codes.map((code) => languageOf(code));
  return new Map(
    languages.flatMap(({ textsName, texts }) =>
      textsName === undefined ? [] : [[textsName, textsScript(texts.scripts)] as const],
    ),
  );
}

/** The slice in the form of a model. Everything outside the slice is empty, so that the files cannot depend on it. */
function indexable({ model }: SiteSlice, { contentVersion }: Pick<SiteModel, 'contentVersion'>): SiteModel {
  const named = (paths: readonly string[]) => paths.map((path) => ({ path, sha256: '', sizeBytes: 0 }));
  return {
    formatVersion: 1,
    contentVersion,
    settings: model.settings,
    navigation: model.navigation,
    redirects: model.redirects,
    pages: model.pages.map((page) => ({
      ...page,
      sha256: '',
      sizeBytes: 0,
      dependencies: [],
      linkTargets: [],
      keywords: [],
    })),
    snippets: [],
    specs: named(model.specs),
    assets: named(model.files),
    styles: named(model.styles),
    scripts: named(model.scripts),
    ...(model.skills !== undefined && { agentSkills: model.skills }),
    diagnostics: [],
  };
}

/** `_bindery/navigation/<id>.js`: the sidebar of the pages of one division, with its icons. */
function navigationScript({ links, entries }: Sidebar, index: SiteIndex): string {
  const icons: SidebarFile['icons'] = {};
  const frames: string[] = [];
  const cleaned = (list: readonly SidebarEntry[]): SidebarEntry[] =>
    list.flatMap((entry) => {
      const { i, h, c, ...rest } = entry;
      const made: SidebarEntry = rest;
      const found = i === undefined ? undefined : sidebarIcon(i, index, frames);
      if (i !== undefined && found !== undefined) {
        icons[i] = found;
        made.i = i;
      }
      if (c !== undefined) made.c = cleaned(c);
      if (h === undefined) return [made];
      const target = linkTarget(h, index);
      return target === undefined ? [] : [{ ...made, ...target }];
    });
  const file: SidebarFile = {
    links: cleaned(links),
    entries: cleaned(entries),
    icons,
    frames,
    ...(index.model.settings.drilldown === true && { drilldown: true }),
  };
  return `window.binderyNavigation = ${scriptJson(file)};\n`;
}

/** An icon of a sidebar. Undefined if no library has it, or if its picture is not in the bundle. A new start tag is added to `frames`. */
function sidebarIcon(written: string, { model, files }: SiteIndex, frames: string[]): SidebarIcon | undefined {
  const form = iconForm({ name: written }, model.settings.iconLibrary);
  if (form.kind === 'emoji') return { text: form.text };
  if (form.kind === 'picture') {
    const picture = pictureOfIcon(form.address);
    const isThere = picture !== undefined && (/^(https|data):/.test(picture) || files.has(picture));
    return isThere ? { picture } : undefined;
  }
  const [drawn] = iconElement(form, '');
  if (drawn === undefined) return undefined;
  const text = writeContent([drawn]).html.text;
  const start = text.slice(0, text.indexOf('>') + 1);
  if (!frames.includes(start)) frames.push(start);
  return { shapes: text.slice(start.length, text.lastIndexOf('</svg>')), frame: frames.indexOf(start) };
}

/** Target of a link: an external address, or a page of the site. */
function linkTarget(written: string, index: SiteIndex): { h: string } | { p: string } | undefined {
  const url = classifyUrl(written);
  if (url.kind === 'external') return { h: url.href };
  if (url.kind !== 'path') return undefined;
  const file = resolveTarget(index, url.path);
  if (file?.startsWith('https:')) return { h: file };
  const page = file?.endsWith('.html') ? file.slice(0, -5) : undefined;
  return page === undefined ? undefined : { p: page };
}

/**
 * One page for each redirect, because a folder of files has no other way to redirect. Redirects with wildcards are listed in a file for the host.
 * Targets are pages of the export, or https addresses of docs.json. A site without a start page gets one that leads to its first page. Names that
 * pages or files already have are skipped.
 */
function redirectPages(index: SiteIndex, names: Names): [string, string][] {
  const made: [string, string][] = [];
  const add = (path: string, target: string, isPermanent = false): void => {
    if (names.take(pageFile(path)) !== undefined) return;
    made.push([pageFile(path), redirectPage(index, path, target, isPermanent)]);
  };
  const permanent = index.model.redirects.filter((redirect) => redirect.permanent);
  const forGood = siteRedirects(permanent, (path) => index.exported.has(path)).named;
  for (const [source, target] of index.redirects.named) {
    const path = pagePathOfAddress(source);
    if (isPlainPath(path)) add(path, target, forGood.get(source) === target);
  }
  const shown = (path: string) => index.exported.has(path) && index.pages.get(path)?.hidden === false;
  const first = firstPage(index.model.navigation, shown) ?? [...index.exported][0];
  if (first !== undefined) add('index', first);
  return made;
}

type Names = ReturnType<typeof namesOfSite>['names'];

/** True for paths whose meaning is unambiguous on every host; hidden files are excluded. */
const isPlainPath = (path: string): boolean =>
  /^[\p{L}\p{M}\p{N}_.~@+(),'!& -]+(\/[\p{L}\p{M}\p{N}_.~@+(),'!& -]+)*$/u.test(path) && !/(^|\/)\./.test(path);

/** A page that redirects. Hosts that send redirects themselves read from it if the redirect is permanent. */
function redirectPage(index: SiteIndex, from: string, target: string, isPermanent: boolean): string {
  const [page = '', anchor] = target.split('#');
  const isOutside = target.startsWith('https:');
  const href = isOutside ? target : pageHref(from, page) + (anchor === undefined ? '' : `#${anchor}`);
  const base = siteBase(index.model.settings);
  const { tag, direction, texts } = languageOf(index.pages.get(page)?.language ?? index.defaultLanguage);
  const canonical = isOutside ? target : base === undefined ? undefined : base + pageAddress(page);
  return html`<!doctype html>
<html lang="${tag}"${direction === 'rtl' && html` dir="rtl"`}>
<head>
<meta charset="utf-8">
${contentPolicy({})}
<title>${texts.moved}</title>
<meta name="robots" content="noindex">
${canonical !== undefined && html`<link rel="canonical" href="${canonical}">\n`}<meta http-equiv="refresh" content="0; url=${href}">
${isPermanent && html`<meta name="redirect" content="permanent">\n`}<link rel="stylesheet" href="${pathToTop(from)}_bindery/theme.css">
</head>
<body>
<main class="not-found"><p>${texts.moved} <a href="${href}">${texts.goToPage}</a></p></main>
</body>
</html>
`.text;
}

const notFoundScriptHtml = new SafeHtml(notFoundScript);
/** Style of `404.html` until the theme is loaded. */
const notFoundStyleHtml = new SafeHtml(
  'body{margin:0;font:16px/28px system-ui,sans-serif}.not-found{display:grid;place-content:center;min-height:70vh;padding:24px;text-align:center}ul{list-style:none;padding:0}',
);

/** The start page has a link of its own on `404.html`. */
const startFile = 'index.html';

/** `404.html`: works at any address. Without scripts its links start at the root of the host. */
function notFoundPage(index: SiteIndex): string {
  const { settings, pages } = index.model;
  const { title, description } = settings.notFound;
  const { tag, direction, texts } = languageOf(index.defaultLanguage);
  const suggestions = pages
    .filter(
      (page) =>
        index.exported.has(page.path) &&
        isListed(page, settings.seo.indexing) &&
        index.places.has(page.path) &&
        pageFile(page.path) !== startFile,
    )
    .slice(0, 3);
  const item = (file: string, label: string) =>
    html`<li><a data-file="${encodePath(file)}" href="/${encodePath(file)}">${label}</a></li>\n`;
  return html`<!doctype html>
<html lang="${tag}"${direction === 'rtl' && html` dir="rtl"`} class="theme-${themeName(settings.theme)}">
<head>
<meta charset="utf-8">
${contentPolicy({ inlineScripts: [notFoundScript], inlineStyles: [notFoundStyleHtml.text] })}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title ?? texts.notFound} - ${settings.name}</title>
<meta name="robots" content="noindex">
<style>${notFoundStyleHtml}</style>
</head>
<body>
<main class="not-found">
<p class="code">404</p>
<h1>${title ?? texts.notFound}</h1>
<p>${description ?? texts.notFoundText}</p>
<ul>
${item(startFile, filled(texts.startPage, { site: settings.name }))}${suggestions.map((page) => item(pageFile(page.path), page.title))}</ul>
</main>
<script>${notFoundScriptHtml}</script>
</body>
</html>
`.text;
}
