import { readFileSync } from 'node:fs';
import { en } from '../interface-texts/languages/en.ts';
import { scriptJson } from '../html.ts';
import type { ScriptTexts } from './page-globals.ts';
import { icon } from '#shared/docs/render/content/icon.ts';
import { writeContent } from '../content/write-content.ts';

/** Parts of the style sheet in their order: of rules with the same weight the later one wins. An empty line follows each chapter. */
const theme = [
  ['base'],
  ['header'],
  ['sidebar'],
  ['page-top', 'api', 'contents'],
  ['prose', 'embeds', 'tables', 'math'],
  ['code', 'diagrams', 'islands'],
  ['tabs'],
  ['callouts'],
  ['cards'],
  ['accordions', 'steps'],
  ['fields'],
  ['figures', 'inline', 'trees', 'prompt', 'changelog', 'aside'],
  ['page-end'],
  ['search', 'assistant-entries'],
  ['not-found'],
  ['writing'],
  ['responsive'],
  ['themes', 'themes-with-sheets'],
  ['motion-and-print'],
];

/** Parts of the page's script in their order. They share one scope: `page` has what all of them use, `reveal` opens what `tabs` and `views` made. */
const siteParts = [
  'elements',
  'loading',
  'site/settings',
  'site/page',
  'site/appearance',
  'site/drawer',
  'site/copy',
  'site/menus',
  'site/tabs',
  'site/views',
  'site/anchor-names',
  'site/reveal',
  'site/contents',
  'site/zoom',
  'site/tooltips',
  'site/changelog',
  'site/print',
  'site/prefetch',
  'site/analytics',
  'site/assistant',
  'site/operation',
  'site/search',
];

/** How the parts of the style sheet name elements without the look of text. */
const notProse = ':where(.not-prose, .not-prose *)';
const textAgain = ':is(.prose, .callout-content, .card-text)';

/** It ends at `prose` and at components of text, unless those have a `not-prose` of their own. Has the weight of nothing, too. */
const proseEnds = `${notProse}:not(:where(.not-prose ${textAgain}, .not-prose ${textAgain} *):not(:where(.not-prose ${textAgain} .not-prose, .not-prose ${textAgain} .not-prose *)))`;

/** A part of the style sheet as pages have it. */
export const themePart = (text: string): string => text.replaceAll(notProse, proseEnds);

/** The style sheet of every page, without its colours. */
export const themeSheet = theme
  .map((chapter) => chapter.map((name) => themePart(ownFile(`theme/${name}.css`))).join(''))
  .join('\n');

/** Scripts by their name under `_bindery/`. */
export function siteScripts(): ReadonlyMap<string, string> {
  return new Map([
    ['start.js', script('start.js')],
    [
      'sidebar.js',
      joinedScript(
        'Builds the sidebar from the navigation file that was loaded before this one, while the page is still being read: nothing moves.',
        ['elements', 'sidebar'],
        ['chevron-right'],
      ),
    ],
    [
      'site.js',
      `window.binderyTexts = window.binderyTexts || ${scriptJson(textsOfSite)};\n${joinedScript(
        'What a page can do once it is there. Classic script, no modules and no fetch: it runs from a folder as from a server.',
        siteParts,
        ['copy', 'sparkles'],
      )}`,
    ],
    [
      'search.js',
      joinedScript(
        'The search: its dialog, and the index of the bundle or the platform behind it. Loaded when it is first opened.',
        ['elements', 'loading', ...searchParts],
        ['search', 'file-text', 'hash', 'history', 'globe', 'sparkles', 'x'],
      ),
    ],
    [
      'analytics.js',
      joinedScript(
        'Counts a visit: one event to each service that config.js names. It keeps nothing in the browser, and sends no cookies.',
        ['elements', 'analytics'],
        [],
      ),
    ],
    [
      'assistant-selection.js',
      joinedScript(
        'A button to ask the assistant about what a reader selects. Loaded when somebody first selects something.',
        ['elements', 'assistant/place', 'assistant/selection'],
        ['sparkles'],
      ),
    ],
    [
      'assistant.js',
      `${textsOfPanel}${joinedScript(
        'The panel of the assistant: questions, answers as they come, and where they are from. Loaded when it is first opened.',
        ['elements', ...assistantParts],
        assistantIcons,
      )}`,
    ],
  ]);
}

const { ask, askQuery, askSelection, ...ofPanel } = en.scripts.assistant;
/** English, without what only the panel says. Pages in other languages bring all of their words. */
const textsOfSite = { ...en.scripts, assistant: { ask, askQuery, askSelection } };
const textsOfPanel = `window.binderyTexts.assistant = Object.assign(${scriptJson(ofPanel)}, window.binderyTexts.assistant);\n`;

/** Parts of `_bindery/assistant.js`, in their order. */
const assistantParts = [
  'place',
  'stream',
  'links',
  'markdown',
  'inline-markdown',
  'drawing',
  'conversation',
  'request',
  'turns',
  'panel',
].map((name) => `assistant/${name}`);

const assistantIcons = [
  'sparkles',
  'square-pen',
  'x',
  'square',
  'arrow-up',
  'quote',
  'copy',
  'thumbs-up',
  'thumbs-down',
];

/** The look of the assistant's panel, which loads with it. */
export const assistantSheet = themePart(ownFile('assistant.css'));

/** Parts of `_bindery/search.js`, in their order. */
const searchParts = ['words', 'engine', 'marking', 'sources', 'dialog'].map((name) => `search/${name}`);

/** `_bindery/diagrams.js`: only on pages with diagrams. It loads `_bindery/mermaid.js`. */
export function diagramsScript(): string {
  const purpose = 'Draws diagrams when they come near, and again when light and dark change.';
  return joinedScript(purpose, ['elements', 'diagrams'], ['maximize']);
}

/** `_bindery/islands.js`: only on pages with components that run in the browser. It loads `_bindery/react.js` and the page's components. */
export function islandsScript(): string {
  const purpose =
    'Runs the components of a page when they come near. Until then, and when one fails, what it shows at first stays.';
  return joinedScript(
    purpose,
    ['elements', 'islands/components', 'islands/islands'],
    ['chevron-right', 'notepad-text', 'info', 'lightbulb', 'circle-check', 'triangle-alert', 'octagon-alert'],
  );
}

/** Is part of `404.html`. */
export const notFoundScript = script('not-found.js');

/** Sets the words that scripts show. */
export function textsScript(texts: ScriptTexts): string {
  return `window.binderyTexts = ${scriptJson(texts)};\n`;
}

/** One function around all parts, which share its scope, and the icons that they use. A part that may end early is a function of its own. */
export function joinedScript(purpose: string, parts: readonly string[], names: readonly string[]): string {
  const icons = Object.fromEntries(names.map((name) => [name, writeContent([icon(name, '')]).html.text]));
  const bodies = parts.map((name) => script(`${name}.js`).replace(/^(?=.)/gm, '  '));
  return `// ${purpose}\n(function () {\n  var icons = ${scriptJson(icons)};\n${bodies.join('\n')}})();\n`;
}

/** A script without its comments, which are a tenth of what every page would load. */
function script(name: string): string {
  return ownFile(`scripts/${name}`)
    .replace(/^ *(\/\*\*(?:[^*]|\*(?!\/))*\*\/|\/\/.*)\n/gm, '')
    .replace(/\/\*\* .*? \*\/ /g, '');
}

/** Read when this module is loaded, as imports are. */
function ownFile(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}
