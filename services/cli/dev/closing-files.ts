import { readFile } from 'node:fs/promises';
import type { SiteSettings } from '#shared/docs/project/site-model.ts';
import { reactScript } from '#shared/docs/render/islands/react-script.ts';
import { mathFiles } from '#shared/docs/render/math/math-fonts.ts';
import { packageFile } from '#shared/runtime/installed-packages.ts';
import { diagramsScript, islandsScript } from '#shared/docs/render/site/browser-files.ts';
import { playgroundFiles } from '#shared/docs/render/site/playground-files.ts';
import { classCss } from '#shared/docs/render/site/utility-classes.ts';
import type { DevPage } from './dev-pages.ts';

/**
 * The files of a bundle that its closing segment has because they depend on all pages. These depend on the pages that were rendered so far: a page
 * is rendered before the browser asks for the files that it needs.
 */
export function closingFiles() {
  const classes = new Map<string, readonly string[]>();
  const fonts = new Map<string, readonly string[]>();
  let css: { key: string; text: string } | undefined;

  const all = (lists: ReadonlyMap<string, readonly string[]>): Set<string> => new Set([...lists.values()].flat());

  async function classSheet(colors: SiteSettings['colors']): Promise<string> {
    const names = all(classes);
    const key = JSON.stringify([colors, [...names].sort()]);
    if (css?.key !== key) css = { key, text: await classCss(names, colors) };
    return css.text;
  }

  return {
    /** Notes what a rendered page needs. */
    add({ path, facts }: Pick<DevPage, 'path' | 'facts'>): void {
      note(classes, path, facts.classes);
      note(fonts, path, facts.mathFonts ?? []);
    },
    /** The style sheet of the classes of all rendered pages. */
    classSheet,
    /** A file by its path in the bundle; undefined if the closing segment has none of this name. */
    async fileAt(path: string, colors: SiteSettings['colors']): Promise<string | Uint8Array | undefined> {
      const [, name = ''] = /^_bindery\/(.+)$/.exec(path) ?? [];
      if (name === 'classes.css') return classSheet(colors);
      if (name === 'diagrams.js') return diagramsScript();
      if (name === 'mermaid.js') return readFile(packageFile('@mermaid-js/tiny/dist/mermaid.tiny.js'));
      if (name === 'islands.js') return islandsScript();
      if (name === 'react.js') return reactScript();
      if (name === 'math.css' || name.startsWith('fonts/'))
        return mathFiles(all(fonts)).find((file) => file.path === path)?.body;
      const [, language] = /^playground(?:\.css|\.js|\/([\w-]+)\.js)$/.exec(name) ?? [undefined, 'none'];
      if (language === 'none') return undefined;
      return playgroundFiles(language === undefined ? [] : [language]).find((file) => file.path === path)?.text;
    },
  };
}

function note(lists: Map<string, readonly string[]>, path: string, names: readonly string[]): void {
  if (names.length === 0) lists.delete(path);
  else lists.set(path, names);
}
