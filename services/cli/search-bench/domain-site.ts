import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import type { z } from 'zod';
import type { pageAnswerSchema, SearchAnswer } from '#shared/interfaces/http/assistant.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { type ApiClient, ApiFailure } from '../api-client.ts';
import type { AskedPage, SearchQuestion } from './questions.ts';

/** Maximum number of passages in a search response. Several may be from one page. */
const mostPassages = 50;
const pagesAtOnce = 4;

/** Topics that nearly every documentation has. */
const firstSearches = ['getting started', 'guide', 'reference', 'configuration', 'API', 'example'];

/**
 * A published site as its readers see it: through search and pages as Markdown. Its pages are found by searches for common words and by links between
 * pages, at most `mostPages`.
 */
export function domainSite(client: ApiClient, domain: string) {
  const at = encodeURIComponent(domain);
  const find = (query: string, language?: string): Promise<SearchAnswer> =>
    client.json<SearchAnswer>(`/discovery/v1/search/${at}`, {
      method: 'POST',
      json: { query, pageSize: mostPassages, filter: { language } },
    });

  async function readPage(path: string, language: string | undefined): Promise<AskedPage | undefined> {
    try {
      const page = await client.json<z.infer<typeof pageAnswerSchema>>(`/discovery/v1/page/${at}`, {
        method: 'POST',
        json: { path: `/${path}` },
      });
      return { ...askedPage(page.path, page.content), language };
    } catch (error) {
      if (error instanceof ApiFailure && error.code === 'not_found') return undefined;
      throw error;
    }
  }

  return {
    async pages(mostPages: number): Promise<AskedPage[]> {
      const read = new Map<string, AskedPage | undefined>();
      /** Language of each waiting page by path, if the search knows it. */
      let waiting = new Map<string, string | undefined>([['index', undefined]]);
      for (const query of firstSearches) {
        for (const { path, metadata } of await find(query)) waiting.set(path, metadata.language);
      }
      while (waiting.size > 0 && read.size < mostPages) {
        const next = [...waiting].slice(0, mostPages - read.size);
        const pages = await inParallel(next, pagesAtOnce, ([path, language]) => readPage(path, language));
        waiting = new Map([...waiting].slice(next.length));
        for (const [position, [path, language]] of next.entries()) {
          const page = pages[position];
          read.set(path, page);
          // Pages are assumed to link to pages of their own language.
          for (const { to } of page?.links ?? []) if (!read.has(to) && !waiting.has(to)) waiting.set(to, language);
        }
      }
      return [
        ...new Map([...read.values()].flatMap((page) => (page === undefined ? [] : [[page.path, page]]))).values(),
      ];
    },
    has: async (path: string): Promise<boolean> => (await readPage(path, undefined)) !== undefined,
    async search({ query, language }: SearchQuestion): Promise<string[]> {
      return [...new Set((await find(query, language)).map(({ path }) => path))];
    },
  };
}

/** Title, description and links of a page's Markdown: `# Title`, then `> description`. Pure. */
export function askedPage(path: string, markdown: string): Omit<AskedPage, 'language'> {
  const tree = fromMarkdown(markdown);
  const [first, second] = tree.children;
  const title = first?.type === 'heading' ? wordsOf(first) : '';
  const description = second?.type === 'blockquote' ? wordsOf(second) : undefined;
  const links: { to: string; text: string }[] = [];
  for (const node of nodesIn(tree)) {
    if (node.type !== 'link') continue;
    const to = pathOf(node.url, path);
    const text = wordsOf(node).replaceAll(/\s+/g, ' ').trim();
    if (to !== undefined && text !== '') links.push({ to, text });
  }
  return { path, title, description, links };
}

function* nodesIn(node: Nodes): Generator<Nodes> {
  yield node;
  if ('children' in node) for (const child of node.children) yield* nodesIn(child);
}

const wordsOf = (node: Nodes): string =>
  [...nodesIn(node)].map((each) => (each.type === 'text' || each.type === 'inlineCode' ? each.value : '')).join('');

/** The page that an address leads to from the page with this path; undefined outside the site. */
function pathOf(address: string, from: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:|^\/\/|^#/i.test(address)) return undefined;
  const url = URL.parse(address, `http://site/${from}`);
  if (url === null) return undefined;
  let path = url.pathname;
  try {
    path = decodeURIComponent(path);
  } catch {
    // A path that cannot be decoded is kept unchanged.
  }
  path = path.replaceAll(/^\/+|\/+$/g, '').replace(/\.(?:html|md)$/, '');
  return path === '' ? 'index' : path;
}
