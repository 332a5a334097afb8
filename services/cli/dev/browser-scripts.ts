import { readFile } from 'node:fs/promises';
import { packageFile } from '#shared/runtime/installed-packages.ts';
import { diagramsScript, elementsScript, siteScripts } from '#shared/docs/render/site/browser-files.ts';

/** Folder of the scripts for open pages; an export has no such folder. */
export const devFolder = '_bindery/dev/';

/** A script for open pages by its name below `_bindery/dev/`; undefined if there is none. */
export async function browserScript(name: string): Promise<string | undefined> {
  if (name === 'live.js') return readFile(new URL('browser/live.js', import.meta.url), 'utf8');
  if (name === 'idiomorph.js') return readFile(packageFile('idiomorph/dist/idiomorph.min.js'), 'utf8');
  return name === 'parts.js' ? partsScript() : undefined;
}

/**
 * `parts.js`: the parts of the site's scripts as functions that set up new elements. Each gets a document whose queries find only these, and quiet
 * stand-ins for what must not be done twice.
 */
function partsScript(): string {
  const functions = {
    page: asFunction(elementsScript(), 'document, addEventListener, matchMedia, location'),
    diagrams: asFunction(diagramsScript(), 'document'),
    sidebar: asFunction(siteScripts().get('sidebar.js') ?? '', 'document, matchMedia'),
  };
  const members = Object.entries(functions).map(([name, text]) => `${name}: ${text}`);
  return `window.binderyDevParts = {\n${members.join(',\n')}\n};\n`;
}

/** Turns a script, which is one function that is called at once, into a function with parameters in place of globals. */
function asFunction(script: string, parameters: string): string {
  const found = /^(?:\/\/.*\n)*\(function \(\) (\{[^]*\})\)\(\);\s*$/.exec(script);
  if (found === null) throw new Error('a script of the site is not a single function that is called at once');
  return `function (${parameters}) ${found[1]}`;
}

const siteScript = '<script src="[^"]*_bindery/site\\.js"></script>';
const textsScript = '<script src="[^"]*_bindery/texts/[\\w-]+\\.js"></script>';
/** Places for the script: before the scripts of a page that set up its elements, or at the end of a page without any. */
const places = [`${textsScript}\n${siteScript}`, siteScript, '</body>'];

/** Adds the script to the HTML of a page, before the scripts of the site that set up its elements. */
export function withLiveScript(html: string, page?: { path: string; key: string }): string {
  const about = page === undefined ? '' : ` data-page="${escaped(page.path)}" data-key="${page.key}"`;
  const tag = `<script src="/${devFolder}live.js"${about}></script>\n`;
  const at = places.map((place) => lastPlace(html, place)).find((place) => place >= 0) ?? -1;
  return at < 0 ? html + tag : html.slice(0, at) + tag + html.slice(at);
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/** The last match of a pattern: what an author wrote may have the same text before it. */
function lastPlace(html: string, pattern: string): number {
  return [...html.matchAll(new RegExp(pattern, 'g'))].at(-1)?.index ?? -1;
}
