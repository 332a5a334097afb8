import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { firstProblem, problemText } from '#shared/runtime/problem-text.ts';
import { errorCode, messageOf } from '#shared/runtime/failures.ts';
import { analyzeQuery, analyzeText } from '#shared/search/ranking/analyze-text.ts';

/** A question and the pages that answer it; finding any of them is right. Paths are as readers see them, `guides/x`. */
export type SearchQuestion = {
  query: string;
  pages: readonly string[];
  /** Pages that do not count as found, and whose links are ignored, because the question is made from their words. */
  exclude: readonly string[];
  /** `link-text`, `title`, `description`, or the kind given in a file. */
  kind: string;
  /** Language of the pages to search. */
  language?: string | undefined;
  /** Site of the question, in a file for several sites. */
  site?: string | undefined;
};

const path = z.string().min(1).max(1_000);
const lineSchema = z
  .looseObject({
    query: z.string().min(1).max(2_000),
    pages: z.array(path).min(1).optional(),
    target: path.optional(),
    exclude: z.array(path).default([]),
    kind: z.string().min(1).max(60).default('question'),
    language: z.string().max(200).optional(),
    site: z.string().optional(),
  })
  .refine(({ pages, target }) => pages !== undefined || target !== undefined, 'must have "pages" or "target"');

/**
 * The questions of a file, one per line: `{"query", "pages"}`, optionally with `exclude`, `kind` and `language`. `target` is one page.
 * @throws a sentence that names the line if one is not a question, or if the file cannot be read or has none
 */
export async function readQuestions(file: string): Promise<SearchQuestion[]> {
  const questions: SearchQuestion[] = [];
  for (const [at, line] of (await textOf(file)).split('\n').entries()) {
    if (line.trim() === '') continue;
    const refuse = (why: string) => new Error(`Line ${at + 1} of ${file} is not a question: ${why}.`);
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (error) {
      throw refuse(messageOf(error));
    }
    const parsed = lineSchema.safeParse(value, { error: problemText });
    if (!parsed.success) throw refuse(firstProblem(parsed.error, 'it'));
    const { query, pages, target, exclude, kind, language, site } = parsed.data;
    const right = (pages ?? [target ?? '']).flatMap(pathsOf);
    questions.push({ query, pages: right, exclude: exclude.flatMap(pathsOf), kind, language, site });
  }
  if (questions.length === 0)
    throw new Error(`${file} has no questions. Write one per line: {"query": "…", "pages": ["/…"]}.`);
  return questions;
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const why = errorCode(error) === 'ENOENT' ? 'there is no such file' : messageOf(error);
    throw new Error(`The questions in ${file} cannot be read: ${why}. Name a file with one question per line.`, {
      cause: error,
    });
  }
}

/** `/guides` may be the page `guides/index`, and `/` is `index`. */
function pathsOf(address: string): string[] {
  const path = address
    .replace(/[#?].*$/s, '')
    .replaceAll(/^\/+|\/+$/g, '')
    .replace(/\.(?:html|mdx?)$/, '');
  return path === '' ? ['index'] : [path, `${path}/index`];
}

/** The parts of a page that questions are made from. */
export type AskedPage = {
  path: string;
  title: string;
  description?: string | undefined;
  language?: string | undefined;
  links: readonly { to: string; text: string }[];
};

/** Minimum number of words. Shorter descriptions and link texts are not specific to one page. */
const leastWords = { 'link-text': 2, description: 4 };

/**
 * Questions made from the site's own texts: link texts, titles and descriptions. A text that belongs to two pages of one language is left out,
 * because either could be right. Pages with a link are excluded from the question made of its text. Pure.
 */
export function siteQuestions(pages: readonly AskedPage[]): SearchQuestion[] {
  const known = new Map(pages.map((page) => [page.path, page]));
  const links = pages.flatMap(({ path: from, language, links }) =>
    links.flatMap(({ to, text }) => {
      const target = known.get(to);
      if (target === undefined || to === from || analyzeQuery(text).length < leastWords['link-text']) return [];
      // A link text that equals the title is already a question of kind `title`.
      if (nameOf(text) === nameOf(target.title)) return [];
      return [{ query: text, page: to, from, language: target.language ?? language }];
    }),
  );
  const titles = pages.map(({ path, title, language }) => ({ query: title, page: path, from: undefined, language }));
  const descriptions = pages.flatMap(({ path, description = '', language }) =>
    analyzeQuery(description).length < leastWords.description
      ? []
      : [{ query: description, page: path, from: undefined, language }],
  );
  return [
    ...unambiguous('link-text', links),
    ...unambiguous('title', titles),
    ...unambiguous('description', descriptions),
  ];
}

const nameOf = (text: string): string => analyzeText(text).join(' ');

type Said = { query: string; page: string; from: string | undefined; language: string | undefined };

function unambiguous(kind: string, said: readonly Said[]): SearchQuestion[] {
  const byText = Map.groupBy(said, ({ query, language }) => `${language ?? ''} ${nameOf(query)}`);
  return [...byText.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined || nameOf(first.query) === '' || same.some(({ page }) => page !== first.page)) return [];
    const exclude = [...new Set(same.flatMap(({ from }) => from ?? []))];
    return [{ query: first.query, pages: [first.page], exclude, kind, language: first.language }];
  });
}

/** A limited number of each kind, taken evenly from the whole list. Pure. */
export function someOfEach(questions: readonly SearchQuestion[], most: number): SearchQuestion[] {
  return [...Map.groupBy(questions, ({ kind }) => kind).values()].flatMap((all) => {
    const step = Math.max(1, all.length / most);
    return Array.from({ length: Math.min(most, all.length) }, (_, at) => all[Math.floor(at * step)]).filter(
      (one) => one !== undefined,
    );
  });
}
