import type { CallToolResult, McpServer, ToolAnnotations } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ApiError } from '#shared/http/errors.ts';
import { problemText } from '#shared/runtime/problem-text.ts';
import { longestPattern } from '#shared/search/line-pattern.ts';
import { nodesWith, type OutlineNode } from './docs-outline.ts';
import type { AgentCall, DocsSource } from './docs-source.ts';
import { headingsOf, pageSection } from './page-section.ts';
import { saidError } from './said-error.ts';

const usualPageSize = 10;
const mostPages = 10;
/** Characters of Markdown in one answer of `read_page`. Clients continue with `offset`. */
const mostCharacters = 60_000;
const usualListed = 500;
const mostListed = 2_000;
const usualLines = 50;

const reading: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
const path = z.string().min(1).max(1_000);
const under = z
  .string()
  .max(1_000)
  .optional()
  .describe('Only pages whose path begins like this, such as "guides/". All pages by default.');
const version = z
  .string()
  .max(200)
  .optional()
  .describe('Only pages of this version of the documentation. Pages without a version belong to all.');
const language = z
  .string()
  .max(200)
  .optional()
  .describe('Only pages in this language, such as "en". Pages without a language belong to all.');

const searchInput = z.strictObject({
  query: z.string().min(1).max(2_000).describe('What to look for: a question, or words.'),
  version,
  language,
  pageSize: z.int().min(1).max(50).optional().describe(`Number of passages, ${usualPageSize} by default.`),
});
const searchOutput = z.object({
  passages: z.array(
    z.object({
      path: z.string().describe('Path of the page, for read_page.'),
      url: z.string().describe('Address of the section, for citations.'),
      title: z.string(),
      heading: z.string().describe('Headings above the passage, outermost first.'),
      content: z.string(),
      score: z.number().describe('0–1; comparable between searches.'),
      language: z.string().optional(),
      version: z.string().optional(),
    }),
  ),
  notice: z.string().optional().describe('A sentence about the search, if there is something to know.'),
});

const readInput = z.strictObject({
  paths: z.array(path).min(1).max(mostPages).describe('Paths of pages, such as ["guides/install"].'),
  section: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe('A heading or its anchor: only this section, with its subsections, instead of whole pages.'),
  offset: z
    .int()
    .min(0)
    .max(10_000_000)
    .optional()
    .describe('Character at which to begin, the "nextOffset" of an earlier answer. For one page.'),
});
const readOutput = z.object({
  pages: z.array(
    z.object({
      path: z.string(),
      url: z.string(),
      title: z.string(),
      content: z.string().describe('Markdown.'),
      totalCharacters: z.int(),
      nextOffset: z.int().optional().describe('Where to go on, if the page or section is longer.'),
    }),
  ),
  notFound: z.array(z.string()).describe('Paths without such a page or section.'),
});

const listInput = z.strictObject({
  under,
  version,
  language,
  depth: z.int().min(1).max(20).optional().describe('Number of levels of the navigation; all by default.'),
  limit: z.int().min(1).max(mostListed).optional().describe(`Number of pages, ${usualListed} by default.`),
});
const node = z.looseObject({
  kind: z.string().describe('"page", "group", or a kind of division, such as "tab" or "version".'),
  title: z.string(),
  path: z.string().optional(),
  children: z.array(z.looseObject({})).optional().describe('Nodes of the same form.'),
});
const listOutput = z.object({
  name: z.string(),
  navigation: z.array(node),
  totalPages: z.int().describe('Pages that match, also those that are not listed.'),
  listedPages: z.int(),
});

const findInput = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .max(longestPattern)
    .describe('Plain text, or a regular expression in the syntax of RE2. Lines are compared one by one.'),
  regex: z.boolean().optional().describe('True if the pattern is a regular expression. False by default.'),
  caseSensitive: z.boolean().optional().describe('False by default.'),
  under,
  linesAround: z.int().min(0).max(10).optional().describe('Lines before and after each line, 2 by default.'),
  limit: z.int().min(1).max(200).optional().describe(`Number of lines, about; ${usualLines} by default.`),
  after: z.string().max(1_000).optional().describe('The "next" of an earlier answer, to go on after it.'),
});
const line = z.object({
  line: z.int(),
  text: z.string(),
  before: z.array(z.string()),
  after: z.array(z.string()),
});
const findOutput = z.object({
  pages: z.array(
    z.object({
      path: z.string(),
      title: z.string(),
      lines: z.array(line),
      more: z.int().describe('Further lines of this page with the pattern.'),
    }),
  ),
  searchedPages: z.int(),
  next: z.string().optional().describe('Present if not all pages were searched: send it as "after".'),
});

const feedbackInput = z.strictObject({
  message: z.string().min(1).max(2_000).describe('A mistake, a gap, or praise, in a few sentences.'),
  path: path.optional().describe('The page that it is about.'),
  rating: z.enum(['up', 'down']).optional(),
});
const feedbackOutput = z.object({ accepted: z.boolean() });

/** Adds the tools to a server. All but the feedback only read. */
export function addDocsTools(server: McpServer, source: DocsSource): void {
  const { onCall = () => {} } = source;

  server.registerTool(
    'search',
    {
      title: 'Search the documentation',
      description:
        'Finds the passages of the documentation that fit a question best, with the path of their pages and their addresses for citations. Read a whole page with read_page.',
      inputSchema: checked(searchInput),
      outputSchema: searchOutput,
      annotations: reading,
    },
    (args) =>
      answering(source, async () => {
        const { pageSize = usualPageSize, ...query } = args;
        const { passages, notice } = await source.search({ ...query, pageSize });
        onCall({ tool: 'search', search: { query: query.query, isEmpty: passages.length === 0 } });
        const { address = '' } = await source.outline();
        const found = passages.map((passage) => ({ ...passage, url: address + passage.url }));
        const texts = found.map(
          ({ title, heading, url, path: page, content }) =>
            `## ${heading === '' ? title : `${title} › ${heading}`}\n${url} (path: ${page})\n\n${content}`,
        );
        const nothing = 'Nothing was found. Try other words, or list_pages.';
        return result(
          [...(notice === undefined ? [] : [notice]), ...(texts.length === 0 ? [nothing] : texts)].join('\n\n'),
          { passages: found, ...(notice === undefined ? {} : { notice }) },
        );
      }),
  );

  server.registerTool(
    'read_page',
    {
      title: 'Read pages',
      description:
        'Returns the Markdown of one or several pages of the documentation, whole or one section. Paths come from search and list_pages.',
      inputSchema: checked(readInput),
      outputSchema: readOutput,
      annotations: reading,
    },
    (args) => answering(source, async () => readPages(source, args, onCall)),
  );

  server.registerTool(
    'list_pages',
    {
      title: 'List the pages',
      description: 'Returns the navigation of the documentation as a tree of pages with titles and paths.',
      inputSchema: checked(listInput),
      outputSchema: listOutput,
      annotations: reading,
    },
    (args) => answering(source, async () => listPages(source, args, onCall)),
  );

  server.registerTool(
    'find_in_pages',
    {
      title: 'Find text in the pages',
      description:
        'Finds the lines of all pages that contain a text or match a regular expression, with the lines around them: for names of settings, error messages and code. For questions use search.',
      inputSchema: checked(findInput),
      outputSchema: findOutput,
      annotations: reading,
    },
    ({
      pattern,
      regex = false,
      caseSensitive = false,
      under: prefix = '',
      linesAround = 2,
      limit = usualLines,
      after = '',
    }) =>
      answering(source, async () => {
        const { searched, pages, next } = await source.findLines({
          ...{ pattern, isExpression: regex, isCaseSensitive: caseSensitive },
          ...{ under: withoutSlash(prefix), after, limit, around: linesAround },
        });
        onCall({ tool: 'find_in_pages', search: { query: pattern, isEmpty: pages.length === 0 && after === '' } });
        const texts = pages.map(({ path: page, title, lines, more }) =>
          [
            `## ${title} (path: ${page})`,
            ...lines.map((each) => ['```', ...numbered(each), '```'].join('\n')),
            ...(more === 0 ? [] : [`${more} more lines of this page match.`]),
          ].join('\n'),
        );
        const end =
          next === undefined ? [] : [`Not all pages were searched. Go on with after: ${JSON.stringify(next)}.`];
        return result([...(texts.length === 0 ? ['No line was found.'] : texts), ...end].join('\n\n'), {
          pages,
          searchedPages: searched,
          ...(next === undefined ? {} : { next }),
        });
      }),
  );

  const { submitFeedback } = source;
  if (submitFeedback === undefined) return;
  server.registerTool(
    'submit_feedback',
    {
      title: 'Send feedback to the authors',
      description:
        'Tells the authors of the documentation about a mistake or a gap. Send it only if the person you work for agrees, and without names, addresses, keys or other private data.',
      inputSchema: checked(feedbackInput),
      outputSchema: feedbackOutput,
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    },
    (args) =>
      answering(source, async () => {
        await submitFeedback(args);
        onCall({ tool: 'submit_feedback' });
        return result('The authors will see it. Thank you.', { accepted: true });
      }),
  );
}

async function readPages(
  source: DocsSource,
  { paths, section, offset = 0 }: z.output<typeof readInput>,
  onCall: (call: AgentCall) => void,
): Promise<CallToolResult> {
  if (offset > 0 && paths.length > 1)
    throw new ApiError('invalid_request', 'The field "offset" needs exactly one path in "paths".');
  const { address = '' } = await source.outline();
  const read = await Promise.all([...new Set(paths)].map(async (each) => [each, await source.readPage(each)] as const));
  const pages: z.input<typeof readOutput>['pages'] = [];
  const notFound: string[] = [];
  const problems: string[] = [];
  let room = mostCharacters;
  for (const [asked, page] of read) {
    const content = page && (section === undefined ? page.markdown : pageSection(page.markdown, section));
    if (page === undefined || content === undefined) {
      notFound.push(asked.slice(0, 200));
      problems.push(page === undefined ? noPage(asked) : noSection(page, section ?? ''));
      continue;
    }
    const shown = content.slice(offset, offset + Math.max(0, room));
    room -= shown.length;
    const end = offset + shown.length;
    pages.push({
      ...{ path: page.path, url: address + addressOf(page.path), title: titleOf(page) },
      ...{ content: shown.toWellFormed(), totalCharacters: content.length },
      ...(end < content.length ? { nextOffset: end } : {}),
    });
  }
  if (pages.length === 0) throw new ApiError('not_found', problems.join('\n'));
  onCall({ tool: 'read_page' });
  const texts = pages.map(({ path: page, url, content, nextOffset, totalCharacters }) =>
    [
      `<!-- ${url} (path: ${page}) -->`,
      content,
      ...(nextOffset === undefined
        ? []
        : [`<!-- ${nextOffset} of ${totalCharacters} characters. Go on with offset: ${nextOffset}. -->`]),
    ].join('\n'),
  );
  return result([...texts, ...problems].join('\n\n'), { pages, notFound });
}

async function listPages(
  source: DocsSource,
  {
    under: prefix = '',
    version: ofVersion,
    language: inLanguage,
    depth,
    limit = usualListed,
  }: z.output<typeof listInput>,
  onCall: (call: AgentCall) => void,
): Promise<CallToolResult> {
  const outline = await source.outline();
  const isOf = (value: string | undefined, wanted: string | undefined): boolean =>
    wanted === undefined || value === undefined || value === wanted;
  const start = withoutSlash(prefix);
  const wanted = new Map(
    outline.pages
      .filter((page) => page.path.startsWith(start))
      .filter((page) => isOf(page.version, ofVersion) && isOf(page.language, inLanguage))
      .map((page) => [page.path, page]),
  );
  const listed = new Set<string>();
  const tree = nodesWith(outline.tree, ({ path: page }) => {
    if (!wanted.has(page) || (listed.size >= limit && !listed.has(page))) return false;
    listed.add(page);
    return true;
  });
  onCall({ tool: 'list_pages' });
  const lines: string[] = [];
  const write = (nodes: readonly OutlineNode[], level: number): void => {
    for (const { title, path: page, children } of nodes) {
      const about = page === undefined ? undefined : wanted.get(page)?.description;
      const said = about === undefined ? '' : `: ${about.replaceAll(/\s+/g, ' ').slice(0, 200).toWellFormed()}`;
      lines.push(`${'  '.repeat(level)}- ${title}${page === undefined ? '' : ` (path: ${page})${said}`}`);
      write(children ?? [], level + 1);
    }
  };
  const navigation = cutAt(tree, depth ?? Number.POSITIVE_INFINITY);
  write(navigation, 0);
  const rest = wanted.size - listed.size;
  return result(
    [
      `# ${outline.name}`,
      lines.length === 0 ? 'There is no such page.' : lines.join('\n'),
      ...(rest === 0 ? [] : [`${rest} more pages are not listed: narrow the list with "under", or raise "limit".`]),
    ].join('\n\n'),
    { name: outline.name, navigation, totalPages: wanted.size, listedPages: listed.size },
  );
}

const cutAt = (nodes: readonly OutlineNode[], depth: number): OutlineNode[] =>
  nodes.map((each) => {
    const { children, ...rest } = each;
    return children === undefined || depth <= 1 ? rest : { ...rest, children: cutAt(children, depth - 1) };
  });

const withoutSlash = (prefix: string): string => prefix.replace(/^\/+/, '');

const titleOf = ({ path: page, markdown }: { path: string; markdown: string }): string =>
  headingsOf(markdown.slice(0, 2_000)).find(({ level }) => level === 1)?.text ?? page;

const addressOf = (page: string): string =>
  `/${page === 'index' ? '' : encodeURI(page.replace(/\/index$/, '').toWellFormed())}`;

const noPage = (asked: string): string =>
  `There is no page ${JSON.stringify(asked.slice(0, 200))} here. Find paths with search or list_pages.`;

const mostHeadings = 40;

function noSection({ path: page, markdown }: { path: string; markdown: string }, section: string): string {
  const names = headingsOf(markdown)
    .filter(({ level }) => level > 1)
    .map(({ text }) => JSON.stringify(text));
  const known = names.length === 0 ? 'It has no sections.' : `It has: ${names.slice(0, mostHeadings).join(', ')}.`;
  return `The page "${page}" has no section ${JSON.stringify(section.slice(0, 200))}. ${known}`;
}

const numbered = ({ line: number, text, before, after }: z.input<typeof line>): string[] =>
  [...before, text, ...after].map((each, at) => `${number - before.length + at}: ${each}`);

const result = (text: string, structuredContent: Record<string, unknown>): CallToolResult => ({
  content: [{ type: 'text', text: text.toWellFormed() }],
  structuredContent,
});

/** The result of a tool, or a result with `isError` whose sentence the model reads. Failures of the program say nothing else. */
async function answering(source: DocsSource, answer: () => Promise<CallToolResult>): Promise<CallToolResult> {
  try {
    return await answer();
  } catch (error) {
    return { content: [{ type: 'text', text: saidError(error, source) }], isError: true };
  }
}

/** The schema with our sentences about wrong values. */
function checked<S extends z.ZodType>(schema: S): S['~standard'] extends infer T ? { '~standard': T } : never {
  const standard = {
    ...schema['~standard'],
    validate: (value: unknown) => {
      const parsed = schema.safeParse(value, { error: problemText });
      return parsed.success ? { value: parsed.data } : { issues: parsed.error.issues };
    },
  };
  return { '~standard': standard } as never;
}
