import type { TocEntry } from '#shared/docs/render/content/content-context.ts';
import { iconForm, pictureOfIcon } from '#shared/docs/icons/icon-form.ts';
import { brandIcon, icon, iconElement } from '#shared/docs/render/content/icon.ts';
import { contentPolicy } from '../content-policy.ts';
import { pageHref, pathToTop, pictureHref, relativeHref } from '../bundle-paths.ts';
import { html, type SafeHtml } from '../html.ts';
import type { InterfaceTexts } from '../interface-texts/interface-texts.ts';
import { languageName, languageOf } from '../interface-texts/language.ts';
import type { DivisionChoice } from '../navigation-places.ts';
import type { Endpoint } from '#shared/docs/reference/open-slice.ts';
import type { PageSlice, ChromeLink } from '../page-slice.ts';
import { writeContent } from '../content/write-content.ts';
import { menuList } from './menu-list.ts';
import { lastModifiedLine } from './last-modified.ts';
import { pageHead } from './page-head.ts';
import type { PlaygroundParts } from './playground-parts.ts';

type PageParts = {
  /** Sanitized and serialized content. */
  content: SafeHtml;
  aside: SafeHtml | undefined;
  /** Id under which links refer to the heading that became the title; undefined if the title has only the id of the shell. */
  titleId?: string | undefined;
  toc: readonly TocEntry[];
  /** Ids of the content. An element of the shell has no id if the content uses the same one. */
  ids: ReadonlySet<string>;
  banner: SafeHtml | undefined;
  /** Description of the page, as HTML and as plain text. */
  description: { html: SafeHtml; text: string } | undefined;
  /** True if the page has a feed. */
  hasFeed: boolean;
  hasMath: boolean;
  hasDiagrams: boolean;
  /** Parts of the playground in the line of the operation. */
  playground: PlaygroundParts | undefined;
  /** Path in the bundle of the script of the page's islands; undefined if it has none. */
  islands?: string | undefined;
  /** Path in the bundle of the page's own style sheet. */
  styles?: string | undefined;
  /** Path in the bundle of the preview image for links to the page. */
  card?: string | undefined;
  /** The operation that the page describes; by default the one that its frontmatter names. */
  endpoint?: Endpoint | undefined;
};

/**
 * The whole page around its content. Every address is relative. There is no inline script or style sheet. Pages in the modes `custom` and `frame`
 * have no frame, and their title is only for screen readers.
 */
export function pageShell(slice: PageSlice, parts: PageParts): string {
  const { settings, frontmatter, path } = slice;
  const top = pathToTop(path);
  const mode =
    typeof frontmatter.mode === 'string' && /^(wide|custom|center|frame)$/.test(frontmatter.mode)
      ? frontmatter.mode
      : 'default';
  const hasToc = parts.aside === undefined && mode === 'default' && parts.toc.length > 0;
  const isBlank = mode === 'custom' || mode === 'frame';
  const id = (name: string): SafeHtml | undefined => (parts.ids.has(name) ? undefined : html` id="${name}"`);
  const { tag, direction, texts, textsName } = languageOf(slice.language);
  const fonts = settings.fonts?.map((file) => relativeHref(path, file)) ?? [];
  const classes = [`theme-${themeName(settings.theme)}`, `mode-${mode}`];
  if (parts.aside !== undefined) classes.push('has-aside');
  // The layout must have the column before the table of contents is parsed, which comes last.
  if (hasToc) classes.push('has-contents');
  return html`<!doctype html>
<html lang="${tag}"${direction === 'rtl' && html` dir="rtl"`} class="${classes.join(' ')}" data-current-path="/${path}" data-root="${top}" data-appearance="${settings.appearance.default}"${settings.appearance.strict && html` data-strict`}${fonts.length > 0 && html` data-fonts="${fonts.join(' ')}"`}${slice.searchLanguage !== undefined && html` data-language="${slice.searchLanguage}"`}${slice.searchVersion !== undefined && html` data-version="${slice.searchVersion}"`}>
<head>
<meta charset="utf-8">
${contentPolicy({ tenantScripts: slice.scripts.length > 0 || parts.islands !== undefined, tenantStyles: slice.styles.length > 0 })}
<meta name="viewport" content="width=device-width, initial-scale=1">
<script src="${top}_bindery/config.js"></script>
<script src="${top}_bindery/start.js"></script>
${pageHead(slice, parts.description?.text, parts)}
</head>
<body>
<a class="skip-link" href="#${parts.ids.has('content-area') ? 'main' : 'content-area'}">${texts.skipToContent}</a>
${parts.banner && html`<div${id('banner')} class="banner" role="note"><span>${parts.banner}</span>${settings.banner?.dismissible === true && html`<button type="button" class="banner-close" aria-label="${texts.dismiss}">${frameIcon('x')}</button>`}</div>`}
${siteHeader(slice, texts, id)}
<div${id('body-content')} class="layout">
<aside${id('sidebar')} class="sidebar">
<nav${id('sidebar-content')} class="sidebar-content" aria-label="${texts.documentation}">${sidebarWithoutScripts(slice)}</nav>
</aside>
<script src="${relativeHref(path, `_bindery/navigation/${slice.sidebar}.js`)}"></script>
<script src="${top}_bindery/sidebar.js"></script>
<main${id(parts.ids.has('content-area') ? 'main' : 'content-area')} class="content-area">
${isBlank ? html`<header${id('header')} class="page-header"><h1${id('page-title')} class="sr-only">${pageTitle(slice, parts)}</h1></header>` : pageTop(slice, parts, texts, id, hasToc)}
${parts.aside && html`<div${id('content-side-layout')} class="page-aside"><div class="aside-content">${parts.aside}</div></div>`}
<div class="content-box"><div${id('content')} class="mdx-content">
${parts.content}
</div></div>
${!isBlank && lastModifiedLine(slice)}
${!isBlank && pagination(slice, texts, id)}
${mode !== 'custom' && siteFooter(slice, id)}
</main>
${hasToc && tableOfContents(slice, parts.toc, texts, id)}
</div>
${textsName !== undefined && html`<script src="${top}_bindery/texts/${textsName}.js"></script>\n`}<script src="${top}_bindery/site.js"></script>
${parts.hasDiagrams && html`<script src="${top}_bindery/diagrams.js"></script>\n`}${parts.islands !== undefined && html`<script src="${top}_bindery/islands.js" data-islands="${relativeHref(path, parts.islands)}"></script>\n`}${slice.scripts.map((script) => html`<script src="${relativeHref(path, script)}"></script>\n`)}</body>
</html>
`.text;
}

/** The theme of docs.json as a class name; `mint` for an invalid name. */
export const themeName = (written: string): string => (/^[a-z]{2,20}$/.test(written) ? written : 'mint');

function pageTitle({ title }: PageSlice, { titleId }: PageParts): SafeHtml | string {
  return titleId === undefined ? title : html`<span id="${titleId}">${title}</span>`;
}

type IdOf = (name: string) => SafeHtml | undefined;

function pageTop(slice: PageSlice, parts: PageParts, texts: InterfaceTexts, id: IdOf, hasContents: boolean): SafeHtml {
  const { toc, description, endpoint, playground } = parts;
  const { deprecated, frontmatter } = slice;
  const eyebrow = eyebrowOf(slice, texts);
  return html`<header${id('header')} class="page-header">
${eyebrow !== undefined && html`<div class="eyebrow">${eyebrow}</div>`}
<div class="page-title-row"><h1${id('page-title')} class="page-title">${pageTitle(slice, parts)}${deprecated && html` <span class="badge" data-color="orange">${texts.deprecatedPage}</span>`}</h1>
${pageActions(slice, hasContents, texts, id)}</div>
${description && html`<p class="page-description">${description.html}</p>`}
${endpointBox(endpoint ?? endpointOf(frontmatter), playground)}
</header>
${toc.length > 0 && html`<details class="toc-inline"><summary>${frameIcon('list')}${texts.onThisPage}</summary>${tocList(toc)}${hasContents && menuBesideContents(slice, texts)}</details>`}`;
}

/** The menu of the page, or only the link to its Markdown. Undefined if the menu is beside the table of contents. */
function pageActions(slice: PageSlice, hasContents: boolean, texts: InterfaceTexts, id: IdOf): SafeHtml | undefined {
  const { path, menu } = slice;
  if (menu === undefined)
    return html`<div class="page-actions"><a class="view-markdown" href="${relativeHref(path, `${path}.md`)}">${texts.page.view}</a></div>`;
  if (menu.place === 'toc' && hasContents) return undefined;
  return html`<div class="page-actions with-menu"><details${id('page-context-menu')} class="switcher page-menu"><summary${id('page-context-menu-button')} aria-label="${texts.page.menu}">${frameIcon('ellipsis')}</summary>${menuList(slice, texts, writtenIcon)}</details></div>`;
}

function menuBesideContents(slice: PageSlice, texts: InterfaceTexts, id?: SafeHtml): SafeHtml | undefined {
  if (slice.menu?.place !== 'toc') return undefined;
  return html`<nav${id} class="page-menu" aria-label="${texts.page.menu}">${menuList(slice, texts, writtenIcon)}</nav>`;
}

/** The group of the page, or its breadcrumbs; a group leads to its first page. */
function eyebrowOf({ path, groups, settings }: PageSlice, texts: InterfaceTexts): SafeHtml | string | undefined {
  if (settings.eyebrows !== 'breadcrumbs' || groups.length === 0) return groups.at(-1)?.title;
  const step = ({ title, page }: PageSlice['groups'][number]) =>
    page === undefined || page === path ? title : html`<a href="${pageHref(path, page)}">${title}</a>`;
  return html`<nav aria-label="${texts.breadcrumbs}"><ol class="breadcrumb-list">${groups.map((group) => html`<li class="breadcrumb-item">${step(group)}</li>`)}</ol></nav>`;
}

/** The operation that a page describes, as in `openapi: "GET /path"` or `api: "POST https://…"`. */
function endpointOf(frontmatter: PageSlice['frontmatter']): Endpoint | undefined {
  const written = frontmatter.openapi ?? frontmatter.api;
  const found =
    typeof written === 'string'
      ? /\b(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|TRACE|QUERY|WEBHOOK)\s+(\S+)/i.exec(written)
      : null;
  return found === null ? undefined : { method: (found[1] ?? '').toUpperCase(), address: found[2] ?? '' };
}

function endpointBox(endpoint: Endpoint | undefined, playground: PlaygroundParts | undefined): SafeHtml | undefined {
  if (!endpoint) return undefined;
  const { method, address } = endpoint;
  const [kind = ''] = /^[a-z]+/.exec(method.toLowerCase()) ?? [];
  return html`<div class="endpoint"><span class="method method-${kind}">${method}</span><code tabindex="0">${address}</code>${playground?.button}</div>${playground?.form}`;
}

function tableOfContents(slice: PageSlice, toc: readonly TocEntry[], texts: InterfaceTexts, id: IdOf): SafeHtml {
  return html`<aside${id('table-of-contents')} class="table-of-contents"><nav${id('table-of-contents-content')} aria-label="${texts.onThisPage}"><p class="toc-title">${texts.onThisPage}</p>${tocList(toc)}</nav>${menuBesideContents(slice, texts, id('page-context-menu'))}</aside>`;
}

function tocList(toc: readonly TocEntry[]): SafeHtml {
  return html`<ul class="toc">${toc.map((entry) => html`<li class="toc-item toc-depth-${entry.depth}"><a href="#${encodeURIComponent(entry.anchor)}">${entry.title}</a></li>`)}</ul>`;
}

function pagination(
  { path, previous, next, frontmatter }: PageSlice,
  texts: InterfaceTexts,
  id: IdOf,
): SafeHtml | undefined {
  if ((!previous && !next) || frontmatter.hideFooterPagination === true) return undefined;
  return html`<nav${id('pagination')} class="pagination" aria-label="${texts.pages}">
${previous && html`<a class="pagination-link previous" rel="prev" href="${pageHref(path, previous.path)}"><span class="pagination-label">${frameIcon('arrow-left')}${texts.previous}</span><span class="pagination-title">${previous.title}</span></a>`}
${next && html`<a class="pagination-link next" rel="next" href="${pageHref(path, next.path)}"><span class="pagination-label">${texts.next}${frameIcon('arrow-right')}</span><span class="pagination-title">${next.title}</span></a>`}
</nav>`;
}

/** Header with logo, switchers, search, links and theme switch, and a row of tabs if there are any. */
function siteHeader(slice: PageSlice, texts: InterfaceTexts, id: IdOf): SafeHtml {
  const { path, settings, choices } = slice;
  const tabs = choices.find((choice) => choice.division === 'tab');
  const switchers = choices.filter((choice) => choice !== tabs);
  return html`<header${id('navbar')} class="navbar">
<div class="navbar-row">
<button type="button" class="menu-button icon-button" aria-label="${texts.scripts.openNavigation}" aria-expanded="false">${frameIcon('menu')}</button>
<a class="nav-logo" href="${chromeHref(path, settings.home)}">${logo(slice)}</a>
<div class="switchers">${switchers.map((choice) => switcher(slice, choice))}</div>
<button type="button"${id('search-bar-entry')} class="search-entry" aria-label="${settings.searchPrompt ?? texts.scripts.search}" hidden>${frameIcon('search')}<span>${settings.searchPrompt ?? texts.scripts.search}</span><kbd>/</kbd></button>
<div class="topbar-right">
<nav class="navbar-links" aria-label="${texts.siteLinks}">${settings.links.map((link) => navbarLink(slice, link))}</nav>
${settings.primary && html`<a${id('topbar-cta-button')} class="navbar-primary" ${linkAttributes(path, settings.primary)}>${brandSign(settings.primary.type)}<span>${labelOf(settings.primary.label, settings.primary.type)}</span></a>`}
${!settings.appearance.strict && html`<button type="button" class="theme-switch icon-button" aria-label="${texts.switchTheme}">${frameIcon('sun', 'sun')}${frameIcon('moon', 'moon')}</button>`}
</div>
</div>
${tabs && html`<nav class="nav-tabs" aria-label="${texts.sections}">${tabs.options.map((option, position) => tab(slice, option, position === tabs.current))}</nav>`}
</header>`;
}

/** The label of a link, or the name of its well-known type. */
function labelOf(label: string, type: string | undefined): string {
  if (label !== '' || type === undefined) return label;
  return type === 'github' ? 'GitHub' : type.charAt(0).toUpperCase() + type.slice(1);
}

function logo({ path, settings }: PageSlice): SafeHtml {
  if (!settings.logo) return html`<span class="site-name">${settings.name}</span>`;
  const { light, dark } = settings.logo;
  if (light === dark) return html`<img src="${pictureHref(path, light)}" alt="${settings.name}" height="28">`;
  return html`<img class="light-only" src="${pictureHref(path, light)}" alt="${settings.name}" height="28"><img class="dark-only" src="${pictureHref(path, dark)}" alt="${settings.name}" height="28">`;
}

function navbarLink(slice: PageSlice, link: PageSlice['settings']['links'][number]): SafeHtml {
  const label = labelOf(link.label, link.type ?? link.icon);
  return html`<a class="navbar-link" ${linkAttributes(slice.path, link)}>${writtenIcon(slice, link.icon) ?? brandSign(link.type)}<span>${label}</span></a>`;
}

const optionHref = (from: string, option: DivisionChoice['options'][number]): string =>
  option.page !== undefined ? pageHref(from, option.page) : chromeHref(from, option);

function tab(slice: PageSlice, option: DivisionChoice['options'][number], isCurrent: boolean): SafeHtml {
  return html`<a class="nav-tabs-item" href="${optionHref(slice.path, option)}"${isCurrent && html` data-active aria-current="true"`}>${writtenIcon(slice, option.icon)}<span>${option.title}</span></a>`;
}

/** A switcher as a `details` element, so that it works without scripts. */
function switcher(slice: PageSlice, choice: DivisionChoice): SafeHtml {
  const from = slice.path;
  const current = choice.options[choice.current];
  return html`<details class="switcher" data-division="${choice.division}"><summary><span>${titleOf(choice, current?.title ?? '')}</span>${frameIcon('chevron-down')}</summary><ul>${choice.options.map(
    (option, position) =>
      html`<li><a href="${optionHref(from, option)}"${position === choice.current && html` aria-current="true"`}>${writtenIcon(slice, option.icon)}${titleOf(choice, option.title)}${option.tag !== undefined && html` <span class="badge" data-color="gray">${option.tag}</span>`}</a></li>`,
  )}</ul></details>`;
}

const titleOf = (choice: DivisionChoice, title: string): string =>
  choice.division === 'language' ? languageName(title) : title;

/** The page's own group, for readers without scripts. With scripts the whole sidebar replaces it before it is visible. */
function sidebarWithoutScripts({ path, groups, siblings }: PageSlice): SafeHtml | undefined {
  if (siblings.length === 0) return undefined;
  const title = groups.at(-1)?.title;
  return html`<div class="sidebar-group">${title !== undefined && html`<p class="sidebar-group-header">${title}</p>`}<ul class="sidebar-list">${siblings.map(
    (page) =>
      html`<li><a class="sidebar-link" href="${pageHref(path, page.path)}"${page.path === path && html` aria-current="page"`}>${page.title}</a></li>`,
  )}</ul></div>`;
}

/** Footer with links to social networks as icons, and columns of links. */
function siteFooter({ path, settings }: PageSlice, id: IdOf): SafeHtml | undefined {
  const { socials, footer } = settings;
  if (socials.length === 0 && footer.length === 0) return undefined;
  return html`<footer${id('footer')} class="footer">
${footer.length > 0 && html`<div class="footer-columns">${footer.map((column) => html`<div class="footer-column">${column.header !== undefined && html`<p class="footer-header">${column.header}</p>`}<ul>${column.items.map((item) => html`<li><a ${linkAttributes(path, item)}>${item.label}</a></li>`)}</ul></div>`)}</div>`}
${socials.length > 0 && html`<div class="socials">${socials.map((social) => html`<a class="social" ${linkAttributes(path, social)}>${socialSign(social.icon, social.label)}</a>`)}</div>`}
</footer>`;
}

/** Icon of a social network with its name for screen readers; the name alone if there is no icon. */
function socialSign(icon: string | undefined, name: string): SafeHtml {
  const sign = brandSign(icon);
  return sign === undefined ? html`<span>${name}</span>` : html`${sign}<span class="sr-only">${name}</span>`;
}

/** Address of a link of the header or footer, relative to a page. */
function chromeHref(from: string, link: Pick<ChromeLink, 'file' | 'hash' | 'href'>): string {
  if (link.file !== undefined) return relativeHref(from, link.file) + (link.hash ?? '');
  return link.href ?? '#';
}

/** Attributes of a link of the header or footer. Links to other sites open a new tab that gets no reference to this one. */
function linkAttributes(from: string, link: ChromeLink): SafeHtml {
  const leaves = link.href !== undefined && /^https?:/.test(link.href);
  return html`href="${chromeHref(from, link)}"${leaves && html` target="_blank" rel="noopener noreferrer"`}`;
}

const framed = new Map<string, SafeHtml>();

/** An icon of the theme, cached because every page has the same ones. */
function frameIcon(name: string, className = ''): SafeHtml {
  const key = `${name} ${className}`;
  const made = framed.get(key) ?? writeContent([icon(name, className)]).html;
  framed.set(key, made);
  return made;
}

function brandSign(name: string | undefined): SafeHtml | undefined {
  if (name === undefined) return undefined;
  const key = `brand:${name}`;
  const known = framed.get(key);
  const sign = known === undefined ? brandIcon(name, '') : undefined;
  if (sign !== undefined) framed.set(key, writeContent([sign]).html);
  return framed.get(key);
}

/** An icon that docs.json names; undefined for an unknown one. */
function writtenIcon({ path, settings }: PageSlice, name: string | undefined): SafeHtml | undefined {
  if (name === undefined) return undefined;
  const form = iconForm({ name }, settings.iconLibrary);
  if (form.kind !== 'picture') return iconElement(form, '').map((element) => writeContent([element]).html)[0];
  const picture = pictureOfIcon(form.address);
  return picture === undefined ? undefined : html`<img class="icon" src="${pictureHref(path, picture)}" alt="">`;
}
