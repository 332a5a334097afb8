import { searchPart } from '#shared/docs/render/search-index-files.ts';
import { textEnds } from '#shared/export/bundle/packed-segment.ts';
import type { DevModel } from './dev-model.ts';
import type { DevPages } from './dev-pages.ts';
import type { PageToRender, SearchPlan } from './site-questions.ts';

/**
 * The search index of a site, as the closing segment of a bundle has it. The list of pages is there at once. A part with the texts of some pages is
 * answered when these pages are rendered, so results arrive while the others are worked on.
 */
export function devSearch(model: DevModel, pages: DevPages) {
  let plan: { revision: number; found: Promise<SearchPlan> } | undefined;
  /** The line of each page in its part, with the digest of everything that it was rendered from. */
  const lines = new Map<string, { inputs: string; line: string }>();
  let last: Promise<unknown> = Promise.resolve();

  const planOf = (revision: number): Promise<SearchPlan> => {
    if (plan?.revision !== revision) plan = { revision, found: model.search() };
    return plan.found;
  };

  async function lineOf(path: string, page: PageToRender | null): Promise<string> {
    if (page === null) return `[]${textEnds.search}`;
    const inputs = `${page.slice.sha256} ${page.slice.dependencies.map(({ sha256 }) => sha256).join(' ')}`;
    const known = lines.get(path);
    if (known?.inputs === inputs) return known.line;
    const { facts } = await pages.render(page);
    const line = facts.search + textEnds.search;
    lines.set(path, { inputs, line });
    return line;
  }

  /** One page after the other, so that a page that a reader asks for finds a free child. */
  async function textOf(number: number, revision: number): Promise<string | undefined> {
    const paths = (await planOf(revision)).parts[number];
    if (paths === undefined) return undefined;
    const own: string[] = [];
    const found = await model.pages(paths);
    for (const [at, path] of paths.entries()) own.push(await lineOf(path, found[at] ?? null));
    return searchPart.begin(number) + own.join('') + searchPart.end;
  }

  return {
    /** A file of the index by its path in the bundle; undefined if there is none of this name. */
    async fileAt(path: string, revision: number): Promise<string | undefined> {
      if (path === '_bindery/search-index.js') return (await planOf(revision)).head;
      const [, number] = /^_bindery\/search\/(\d{1,6})\.js$/.exec(path) ?? [];
      if (number === undefined) return undefined;
      const text = last.then(() => textOf(Number(number), revision));
      last = text.catch(() => undefined);
      return text;
    },
  };
}
