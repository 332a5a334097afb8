import { relativeHref } from '../bundle-href.ts';
import type { DivisionChoice } from '../navigation-places.ts';
import type { PageSlice } from '../page-slice.ts';
import { html, type SafeHtml } from './html.ts';
import { pictureHref } from './page-shell.ts';
import { shapeSvg } from './shape-svg.ts';
import { languageName } from './language-name.ts';
import { linkAttributes, sharedHref } from './shared-link.ts';

type IdOf = (name: string) => SafeHtml | undefined;

/** Logo, switchers, search, links and theme switch; under them the tabs where there are any. */
export function siteHeader(slice: PageSlice, id: IdOf): SafeHtml {
  const { path, settings, choices } = slice;
  const tabs = choices.find((choice) => choice.division === 'tab');
  const switchers = choices.filter((choice) => choice !== tabs);
  return html`<header${id('navbar')} class="navbar">
<div class="navbar-row">
<button type="button" class="menu-button icon-button" aria-label="Open navigation" aria-expanded="false">${shapeSvg('menu', '')}</button>
<a class="nav-logo" href="${sharedHref(path, settings.home)}">${logo(slice)}</a>
<div class="switchers">${switchers.map((choice) => switcher(path, choice))}</div>
<button type="button"${id('search-bar-entry')} class="search-entry" hidden>${shapeSvg('search', '')}<span>Search</span><kbd>/</kbd></button>
<div class="topbar-right">
<nav class="navbar-links" aria-label="Site">${settings.links.map((link) => navbarLink(slice, link))}</nav>
${settings.primary && html`<a${id('topbar-cta-button')} class="navbar-primary" ${linkAttributes(path, settings.primary)}>${shapeSvg(settings.primary.type ?? '', '')}<span>${labelOf(settings.primary.label, settings.primary.type)}</span></a>`}
${!settings.appearance.strict && html`<button type="button" class="theme-switch icon-button" aria-label="Switch between light and dark">${shapeSvg('sun', 'sun')}${shapeSvg('moon', 'moon')}</button>`}
</div>
</div>
${tabs && html`<nav class="nav-tabs" aria-label="Sections">${tabs.options.map((option, position) => tab(path, option, position === tabs.current))}</nav>`}
</header>`;
}

/** The name that a well-known type of link has by itself. */
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

function navbarLink({ path }: PageSlice, link: PageSlice['settings']['links'][number]): SafeHtml {
  const label = labelOf(link.label, link.type ?? link.icon);
  return html`<a class="navbar-link" ${linkAttributes(path, link)}>${shapeSvg(link.icon ?? link.type ?? '', '')}<span>${label}</span></a>`;
}

const optionHref = (from: string, option: DivisionChoice['options'][number]): string =>
  option.page !== undefined ? relativeHref(from, `${option.page}.html`) : (option.href ?? '#');

function tab(from: string, option: DivisionChoice['options'][number], isCurrent: boolean): SafeHtml {
  return html`<a class="nav-tabs-item" href="${optionHref(from, option)}"${isCurrent && html` data-active aria-current="true"`}>${shapeSvg(option.icon ?? '', '')}<span>${option.title}</span></a>`;
}

/** Works without scripts, as a list that opens. */
function switcher(from: string, choice: DivisionChoice): SafeHtml {
  const current = choice.options[choice.current];
  return html`<details class="switcher" data-division="${choice.division}"><summary><span>${titleOf(choice, current?.title ?? '')}</span>${shapeSvg('chevron-down', '')}</summary><ul>${choice.options.map(
    (option, position) =>
      html`<li><a href="${optionHref(from, option)}"${position === choice.current && html` aria-current="true"`}>${titleOf(choice, option.title)}${option.tag !== undefined && html` <span class="badge" data-color="gray">${option.tag}</span>`}</a></li>`,
  )}</ul></details>`;
}

const titleOf = (choice: DivisionChoice, title: string): string =>
  choice.division === 'language' ? languageName(title) : title;
