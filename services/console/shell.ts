import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import type { PersonRole } from '#shared/interfaces/http/person-token.ts';
import { assetPath } from './assets.ts';
import { icon } from './pieces/icon.ts';
import { attribute } from './pieces/pieces.ts';

/** The navigation beside a page. */
export type Surroundings = {
  person: string;
  role: PersonRole | undefined;
  /** The organization whose page it is. */
  organization: { id: string; name: string } | undefined;
  /** Id of the organization whose pages the person saw last, on pages of the installation. */
  last: string | undefined;
  /** Organizations to change to. */
  organizations: readonly string[];
  isOperator: boolean;
  /** Path of the page, which marks its entry. */
  path: string;
  /** The hidden field with the token of forms. */
  token: SafeHtml;
  /** A sentence about a change that was just made. */
  said: string | undefined;
};

/** The pages of an organization that its navigation and the search name: path below `/o/<organization>`, words, icon. */
export const sections = [
  ['', 'Overview', 'layout-dashboard'],
  ['/domains', 'Domains', 'book-marked'],
  ['/exports', 'Exports', 'package'],
  ['/keys', 'API keys', 'key-round'],
  ['/assistant', 'Assistant', 'message-circle-question-mark'],
  ['/audit', 'Audit', 'scroll-text'],
  ['/usage', 'Usage', 'chart-column'],
] as const;

const installationSections = [
  ['/installation', 'Health', 'heart-pulse'],
  ['/organizations', 'Organizations', 'building-2'],
  ['/installation/work', 'Queues and workers', 'list-checks'],
  ['/installation/dead-letters', 'Dead letters', 'mail-warning'],
  ['/installation/housekeeping', 'Housekeeping', 'trash-2'],
] as const;

/** The frame of all pages: head, style sheet, scripts. Pages are whole without the scripts. */
const frame = (title: string, body: SafeHtml): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="htmx-config" content="includeIndicatorCSS:false, extensions:sse, mode:same-origin">
<title>${title} · Bindery</title>
<link rel="icon" href="${assetPath('mark.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${assetPath('console.css')}">
<link rel="stylesheet" href="${assetPath('chart.css')}">
<script src="${assetPath('htmx.js')}" defer></script>
<script src="${assetPath('sse.js')}" defer></script>
<script src="${assetPath('console.js')}" type="module"></script>
</head>
${body}
</html>
`.text;

const notice = (said: string | undefined): SafeHtml =>
  html`<div id="said" role="status">${said === undefined ? '' : html`<p class="notice good">${icon('circle-check')}<span>${said}</span></p>`}</div>`;

/** A page without navigation, as for signing in. */
export const plainPage = (title: string, content: SafeHtml, said?: string): string =>
  frame(
    title,
    html`<body class="plain"><a class="skip" href="#content">Skip to the content</a><main id="content"><p class="brand">${icon('book-open-text')}Bindery</p>${notice(said)}${content}</main></body>`,
  );

/** A page with the navigation. */
export function shellPage(title: string, content: SafeHtml, around: Surroundings): string {
  const { organization, isOperator, person, role, token } = around;
  const base = organization === undefined ? undefined : `/o/${organization.id}`;
  return frame(
    organization === undefined ? title : `${title} · ${organization.name}`,
    html`<body hx-boost:inherited="swap:outerMorph target:body">
<a class="skip" href="#content">Skip to the content</a>
<div class="frame">
<header class="top"><a href="#menu" class="button" aria-label="Menu">${icon('menu')}</a><span class="brand">Bindery</span></header>
<nav aria-label="Console" class="side" id="menu">
<p class="brand">${icon('book-open-text')}Bindery<a href="#content" class="side-close" aria-label="Close the menu">${icon('x')}</a></p>
${organization === undefined ? (around.last === undefined ? '' : html`<p class="back"><a href="/o/${around.last}">${icon('arrow-left')}<span>${around.last}</span></a></p>`) : switcher(organization, around)}
${
  base === undefined
    ? ''
    : html`<button type="button" class="palette-open" data-palette hidden>${icon('search')}Find <kbd>Ctrl K</kbd></button><a class="find-link" href="${base}/find">${icon('search')}Find</a>
<ul>${sections.map(([path, label, name]) => entry(base + path, label, name, around.path, path === ''))}</ul>
`
}
${isOperator ? html`<p class="group" id="side-installation">Installation</p><ul aria-labelledby="side-installation">${installationSections.map(([path, label, name]) => entry(path, label, name, around.path, path === '/installation'))}</ul>` : ''}
<div class="person"><p><span class="person-name" title="${person}">${person}</span>${role === undefined || role === person ? '' : html`<span class="quiet">${role}</span>`}</p>
<form method="post" action="/sign-out" hx-boost="false">${token}<button class="link">Sign out</button> <button class="link" formaction="/sign-out/everywhere">Sign out everywhere</button></form></div>
</nav>
<main id="content" tabindex="-1">${notice(around.said)}
${content}
</main>
</div>
${base === undefined ? '' : palette(base)}
${question}
</body>`,
  );
}

const mostListed = 12;

function switcher({ id, name }: { id: string; name: string }, { organizations, isOperator }: Surroundings): SafeHtml {
  if (organizations.length < 2 && !isOperator) return html`<p class="organization">${name}</p>`;
  return html`<details class="switcher"><summary>${name}${icon('chevrons-up-down')}</summary><ul>${organizations
    .slice(0, mostListed)
    .map(
      (each) => html`<li><a href="/o/${each}"${attribute('aria-current', each === id && 'true')}>${each}</a></li>`,
    )}${isOperator ? html`<li><a href="/organizations">All organizations</a></li>` : ''}</ul></details>`;
}

/** The entry of a section is marked on its own page and on the pages below it. */
function entry(to: string, label: string, name: string | undefined, path: string, isAlone: boolean): SafeHtml {
  const isHere = path === to;
  const isAbove = !isAlone && path.startsWith(`${to}/`);
  const current = isHere ? 'page' : isAbove && 'true';
  return html`<li><a href="${to}"${attribute('aria-current', current)}>${name === undefined ? '' : icon(name)}<span>${label}</span></a></li>`;
}

/** The dialog with which a script asks before a form acts. It has the words of the form. */
const question = html`<dialog id="question" aria-labelledby="question-words" hx-morph-skip><form method="dialog"><p id="question-words"></p><div class="actions"><button class="button" value="no">Back</button><button class="button primary" value="yes"></button></div></form></dialog>`;

/** The command palette: a dialog that a script opens, with the same search as the page "Find". */
const palette = (base: string): SafeHtml =>
  html`<dialog id="palette" aria-label="Find" hx-morph-skip><form action="${base}/find" method="get" role="search"><input type="search" name="q" aria-label="Find domains, keys and pages" placeholder="Find domains, keys and pages" autocomplete="off" hx-get="${base}/find" hx-trigger="input changed delay:120ms, search" hx-target="#palette-found" hx-select="#found" hx-push-url="false"></form><div id="palette-found"></div></dialog>`;
