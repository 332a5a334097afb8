import { readFileSync } from 'node:fs';
import { en } from '../interface-texts/language.ts';
import { scriptJson } from '../html.ts';
import type { ScriptTexts } from './page-globals.ts';
import { icon } from '#shared/docs/render/content/icon.ts';
import { writeContent } from '../content/write-content.ts';

/** Parts of the style sheet in order: among rules with the same specificity the later one wins. An empty line follows each chapter. */
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

/** Parts of the page's script in order. They share one scope: all use `page`, and `reveal` opens elements that `tabs` and `views` made. */
const siteParts = [
  'elements',
  'loading',
  'site/settings',
  'site/page',
  'site/appearance',
  'site/drawer',
  'clipboard',
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

/** Parts that only listen to the whole page. They need not run again for elements that are added later. */
const partsOfWholePage = new Set(
  ['drawer', 'print', 'prefetch', 'analytics', 'assistant', 'search'].map((name) => `site/${name}`),
);
const siteIcons = ['copy', 'sparkles'];

/** The parts of the page's script that set up elements of a page, joined. */
export function elementsScript(): string {
  const parts = siteParts.filter((name) => !partsOfWholePage.has(name));
  return joinedScript('Sets up elements of a page.', parts, siteIcons);
}

/** Selector for elements that are excluded from text styles, as the parts of the style sheet write it. */
const notProse = ':where(.not-prose, .not-prose *)';
const textAgain = ':is(.prose, .callout-content, .card-text)';

/**
 * The selector that replaces `notProse`. It ends at `prose` and at components of text, unless those contain another `not-prose`. Its specificity is
 * also zero.
 */
const proseEnds = `${notProse}:not(:where(.not-prose ${textAgain}, .not-prose ${textAgain} *):not(:where(.not-prose ${textAgain} .not-prose, .not-prose ${textAgain} .not-prose *)))`;

/** Expands a part of the style sheet for pages. */
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
        'Builds the sidebar from the navigation file, which is loaded first, while the page is parsed, so that the layout does not shift.',
        ['elements', 'sidebar'],
        ['chevron-right'],
      ),
    ],
    [
      'site.js',
      `window.binderyTexts = window.binderyTexts || ${scriptJson(textsOfSite)};\n${joinedScript(
        'Interactive parts of every page. A classic script without modules and fetch, so that it also runs from a folder.',
        siteParts,
        siteIcons,
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
        'Counts a visit: one event to each service that config.js names. It stores nothing in the browser and sends no cookies.',
        ['elements', 'analytics'],
        [],
      ),
    ],
    [
      'agents.js',
      joinedScript(
        "The entries of a page's menu for agents. Loaded on pages that have them, from a host that answers agents.",
        ['agents'],
        [],
      ),
    ],
    [
      'assistant-selection.js',
      joinedScript(
        'A button to ask the assistant about what a reader selects. Loaded at the first selection.',
        ['elements', 'assistant/place', 'assistant/selection'],
        ['sparkles'],
      ),
    ],
    [
      'assistant.js',
      `${textsOfPanel}${joinedScript(
        'The panel of the assistant: questions, streamed answers, and their sources. Loaded when it is first opened.',
        ['elements', 'clipboard', ...assistantParts],
        assistantIcons,
      )}`,
    ],
  ]);
}

const { ask, askQuery, askSelection, ...ofPanel } = en.scripts.assistant;
/** English texts without those of the panel. Pages in other languages load all of their texts. */
const textsOfSite = { ...en.scripts, assistant: { ask, askQuery, askSelection } };
const textsOfPanel = `window.binderyTexts.assistant = Object.assign(${scriptJson(ofPanel)}, window.binderyTexts.assistant);\n`;

/** Parts of a conversation with the assistant, in their order. The part before them says where it takes place. */
const talkParts = [
  'stream',
  'links',
  'markdown',
  'inline-markdown',
  'drawing',
  'conversation',
  'request',
  'chat',
  'turns',
  'talk',
];

/** The first of these parts have no state, so all conversations of a page share them. */
const statelessParts = talkParts.indexOf('drawing');
const ofAssistant = (name: string): string => `assistant/${name}`;

/** Parts of `_bindery/assistant.js`, in their order. */
const assistantParts = ['place', 'page-talk', ...talkParts, 'panel'].map(ofAssistant);

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

/** Style sheet of the assistant's panel. It is loaded with the panel. */
export const assistantSheet = themePart(ownFile('assistant.css') + ownFile('talk.css'));

/** Parts of `_bindery/search.js`, in their order. */
const searchParts = ['words', 'engine', 'marking', 'sources', 'dialog'].map((name) => `search/${name}`);

/** `_bindery/diagrams.js`: only on pages with diagrams. It loads `_bindery/mermaid.js`. */
export function diagramsScript(): string {
  const purpose = 'Draws diagrams when they are close to the viewport, and again when the appearance changes.';
  return joinedScript(purpose, ['elements', 'diagrams'], ['maximize']);
}

/** `_bindery/islands.js`: only on pages with components that run in the browser. It loads `_bindery/react.js` and the page's components. */
export function islandsScript(): string {
  const purpose =
    'Runs the components of a page when they are close to the viewport. Until then, and if one fails, its initial state stays.';
  return joinedScript(
    purpose,
    ['elements', 'islands/components', 'islands/islands'],
    ['chevron-right', 'notepad-text', 'info', 'lightbulb', 'circle-check', 'triangle-alert', 'octagon-alert'],
  );
}

/** Inline script of `404.html`. */
export const notFoundScript = script('not-found.js');

/** The script that sets the texts of scripts. */
export function textsScript(texts: ScriptTexts): string {
  return `window.binderyTexts = ${scriptJson(texts)};\n`;
}

/** Joins parts into one function, whose scope they share with the icons that they use. A part with an early return must be a function. */
export function joinedScript(purpose: string, parts: readonly string[], names: readonly string[]): string {
  // The parts are not indented in the function: the spaces would take a hundredth of the script, even compressed.
  return `// ${purpose}\n(function () {\nvar icons = ${scriptJson(iconsOf(names))};\n${joinedParts(parts)}})();\n`;
}

const iconsOf = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, writeContent([icon(name, '')]).html.text]));

function joinedParts(parts: readonly string[]): string {
  const bodies = parts
    .flatMap((name) => (name === 'elements' ? ['make', name] : [name]))
    .map((name) => script(`${name}.js`));
  return bodies.join('\n');
}

/**
 * `widget.js` before it is minified. Parts in `makeWidget` are in a scope of their own for each widget. `tables`: texts of each language, joined in the
 * order of `names`.
 */
export function widgetSource(texts: WidgetTexts, version: string): string {
  const { rightToLeft, ...values } = texts;
  const shared = ['make', 'widget/shapes', 'clipboard', ...talkParts.slice(0, statelessParts).map(ofAssistant)];
  const own = ['widget/place', ...talkParts.slice(statelessParts).map(ofAssistant), 'widget/state', 'widget/frame'];
  const icons = iconsOf(assistantIcons.filter((name) => name !== 'quote'));
  return `(function () {
var icons = ${scriptJson(icons)};
var widgetTexts = Object.assign(${scriptJson(values)}, { rightToLeft: ${rightToLeft} });
var widgetStyles = ${scriptJson(compactCss(ownFile('widget.css') + ownFile('talk.css')))};
var widgetVersion = ${scriptJson(version)};
var drawn = shapesOf;
${joinedParts([...shared, 'widget/options', 'widget/colors'])}
function makeWidget(widgetOptions) {
${joinedParts(own)}
return { buildFrame: buildFrame, resumeTurn: resumeTurn, widgetHost: widgetHost, shownWidget: shownWidget, chatOfWidget: chatOfWidget };
}
${joinedParts(['widget/api'])}
})();
`;
}

export type WidgetTexts = {
  names: readonly string[];
  tables: Readonly<Record<string, string>>;
  same: Readonly<Record<string, string>>;
  rightToLeft: RegExp;
};

const compactCss = (css: string): string =>
  css
    .replaceAll(/\/\*[^*]*\*\//g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,]) ?/g, '$1')
    .replaceAll(/: /g, ':')
    .replaceAll(';}', '}')
    .trim();

/** A script without its comments, which are a tenth of its size. */
function script(name: string): string {
  return ownFile(`scripts/${name}`)
    .replace(/^ *(\/\*\*(?:[^*]|\*(?!\/))*\*\/|\/\/.*)\n/gm, '')
    .replace(/\/\*\* .*? \*\/ /g, '');
}

/** Reads a file while this module is loaded, as an import does. */
function ownFile(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}
