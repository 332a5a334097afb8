import type { Finding } from '#shared/docs/findings/finding-texts.ts';
import { iconForm } from '#shared/docs/icons/icon-form.ts';
import { islandsFile, pageFile, relativeHref } from '../bundle-paths.ts';
import { iconElement } from '../content/icon.ts';
import { writeContent } from '../content/write-content.ts';
import type { Island, Module } from '../evaluate/static-tree.ts';
import { scriptJson } from '../html.ts';
import type { PageSlice } from '../page-slice.ts';
import { compileModule, type CompiledModule, NotCompiled } from './compile-module.ts';

/** The script of a page with its islands. */
export type PageIslands = {
  /** Path in the bundle. */
  path: string;
  script: string;
  /** Texts in its code that may be class names. */
  classes: string[];
};

const maxScript = 1024 * 1024;

/**
 * Compiles the islands of a page, with every file that they import. Undefined if there are none. Code that cannot be compiled is a diagnostic, and
 * its islands keep their first look. The same page gives the same bytes.
 */
export function pageIslands(
  islands: readonly Island[],
  slice: PageSlice,
  diagnostics: Finding[],
): PageIslands | undefined {
  if (islands.length === 0) return undefined;
  const compiled = new Map<string, CompiledModule>();
  for (const module of modulesOf(islands)) {
    const own = [...islands.entries()].filter(([, island]) => island.module === module);
    try {
      compiled.set(module.path, compileModule(module, own));
    } catch (error) {
      if (!(error instanceof NotCompiled)) throw error;
      const message = `The components of this file cannot run in the browser: ${error.message}`;
      diagnostics.push({
        severity: 'warning',
        code: 'island-not-compiled',
        message: message.slice(0, 500),
        file: module.path,
        ...(error.line !== undefined && { line: error.line }),
      });
    }
  }
  const files = [...compiled.values()];
  const given = islands.map(({ props }) => props).join('\n');
  const texts = [...files.flatMap((file) => file.texts), ...textsIn(given, /"((?:[^"\\]|\\.)*)"/g)];
  const named = [...files.flatMap((file) => file.icons), ...textsIn(given, /"icon": "([\w-]+)"/g)];
  const places = islands.map(({ module }) => (compiled.has(module.path) ? module.path : null));
  const modules = [...compiled].map(([path, { code }]) => `${scriptText(path)}: ${code}`);
  const script = `// Components of this page, as the authors of the site wrote them. They run in the reader's browser.
binderyIslands({
places: ${scriptJson(places)},
links: ${scriptJson(linksAmong(texts, slice))},
icons: ${scriptJson(iconsAmong(named, slice))},
modules: {
${modules.join(',\n')}
}
});
`;
  if (Buffer.byteLength(script) > maxScript) {
    const message = 'The components of this page have more than 1 MB of code, so they do not run. Import fewer files.';
    diagnostics.push({ severity: 'warning', code: 'islands-too-large', message, file: slice.file });
    return undefined;
  }
  return { path: islandsFile(slice.path), script, classes: classesAmong(texts) };
}

const textsIn = (code: string, pattern: RegExp): string[] =>
  Array.from(code.matchAll(pattern), ([, text = '']) => text);

const scriptText = (text: string): string => scriptJson(text);

/** The files with islands and all their imports, in the order in which they are found. */
function modulesOf(islands: readonly Island[]): Set<Module> {
  const found = new Set<Module>();
  const pending = islands.map(({ module }) => module).reverse();
  for (let module = pending.pop(); module; module = pending.pop()) {
    if (found.has(module)) continue;
    found.add(module);
    pending.push(...[...module.imports.values()].reverse());
  }
  return found;
}

/**
 * Resolved addresses of the texts that are internal links. The code has the links as written, and a bundle that is opened from a folder has no server
 * to resolve them.
 */
function linksAmong(texts: readonly string[], { links, folders, path }: PageSlice): Record<string, string> {
  const found: Record<string, string> = {};
  for (const text of [...new Set(texts)].sort()) {
    if (!text.startsWith('/')) continue;
    const [target = '', hash] = text.split('#', 2);
    const folder = folders[target];
    const file = links[target] ?? links[text] ?? (folder === undefined ? undefined : pageFile(folder));
    if (typeof file !== 'string') continue;
    found[text] = (/^https?:/.test(file) ? file : relativeHref(path, file)) + (hash === undefined ? '' : `#${hash}`);
  }
  return found;
}

const mostIcons = 100;

/** Drawings of the icons with these names. */
function iconsAmong(names: readonly string[], { settings }: PageSlice): Record<string, string> {
  const found: Record<string, string> = {};
  for (const text of [...new Set(names)].sort()) {
    if (Object.keys(found).length >= mostIcons) break;
    if (!/^[a-z][a-z0-9-]{1,40}$/.test(text)) continue;
    const form = iconForm({ name: text }, settings.iconLibrary);
    if (form.kind === 'drawing') found[text] = writeContent(iconElement(form, '')).html.text;
  }
  return found;
}

const mostClasses = 1000;

function classesAmong(texts: readonly string[]): string[] {
  const names = new Set(
    texts.flatMap((text) => text.split(/\s+/)).filter((name) => /^[!-]?[a-z@[*][^"'`<>{};]*$/i.test(name)),
  );
  return [...names].sort().slice(0, mostClasses);
}
