import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { problemText } from '#shared/http/field-problems.ts';
import { errorCode, messageOf } from '#shared/runtime/failures.ts';
import { analyzeQuery, analyzeText } from '#shared/search/analyze-text.ts';

/** A question, and the pages that answer it: finding one of them is right. Paths are as readers know them, `guides/x`. */
export type SearchQuestion = {
  query: string;
  pages: readonly string[];
  /** Pages that are not found and whose links do not count, because the question is made of their words. */
  exclude: readonly string[];
  /** `link-text`, `title`, `description`, or what a file says. */
  kind: string;
  /** In which pages are searched. */
  language?: string | undefined;
  /** To which it belongs, in a file with questions to several. */
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
 * The questions of a file, a line each: `{"query", "pages"}`, beside them `exclude`, `kind` and `language`. `target` is one page.
 * @throws a sentence that names the line when one is no question, or when the file cannot be read or has none
 */
export async function readQuestions(file: string): Promise<SearchQuestion[]> {
  const questions: SearchQuestion[] = [];
  for (const [at, line] of (await textOf(file)).split('\n').entries()) {
    if (line.trim() === '') continue;
    const refuse = (why: string) => new Error(`Line ${at + 1} of ${file} is no question: ${why}.`);
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (error) {
      throw refuse(messageOf(error));
    }
    const parsed = lineSchema.safeParse(value, { error: problemText });
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const field = issue === undefined || issue.path.length === 0 ? 'it' : `"${issue.path.join('.')}"`;
      throw refuse(`${field} ${issue?.message ?? 'is wrong'}`);
    }
    const { query, pages, target, exclude, kind, language, site } = parsed.data;
    const right = (pages ?? [target ?? '']).flatMap(pathsOf);
    questions.push({ query, pages: right, exclude: exclude.flatMap(pathsOf), kind, language, site });
  }
  if (questions.length === 0)
    throw new Error(`${file} has no question. Write one a line: {"query": "…", "pages": ["/…"]}.`);
  return questions;
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const why = errorCode(error) === 'ENOENT' ? 'there is no such file' : messageOf(error);
    throw new Error(`The questions in ${file} cannot be read: ${why}. Name a file with a question a line.`, {
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

/** What of a page questions are made of. */
export type AskedPage = {
  path: string;
  title: string;
  description?: string | undefined;
  language?: string | undefined;
  links: readonly { to: string; text: string }[];
};

/** With fewer words a description or a link says nothing that only one page has. */
const leastWords = { 'link-text': 2, description: 4 };

/**
 * Questions made of what a site itself says of its pages: the texts of links to them, their titles and their descriptions. Those that are said of two
 * pages of one language are left out: nobody could say which is right. The pages with a link do not count for a question that its text is. Pure.
 */
export function siteQuestions(pages: readonly AskedPage[]): SearchQuestion[] {
  const known = new Map(pages.map((page) => [page.path, page]));
  const links = pages.flatMap(({ path: from, language, links }) =>
    links.flatMap(({ to, text }) => {
      const target = known.get(to);
      if (target === undefined || to === from || analyzeQuery(text).length < leastWords['link-text']) return [];
      // That would be a question for the title.
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

/** At most so many of each kind, evenly from the whole list. Pure. */
export function someOfEach(questions: readonly SearchQuestion[], most: number): SearchQuestion[] {
  return [...Map.groupBy(questions, ({ kind }) => kind).values()].flatMap((all) => {
    const step = Math.max(1, all.length / most);
    return Array.from({ length: Math.min(most, all.length) }, (_, at) => all[Math.floor(at * step)]).filter(
      (one) => one !== undefined,
    );
  });
}
