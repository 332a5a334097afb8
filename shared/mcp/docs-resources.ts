import { type McpServer, ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { firstProblem, problemText } from '#shared/runtime/problem-text.ts';
import type { DocsOutline } from './docs-outline.ts';
import type { DocsSource } from './docs-source.ts';
import { saidError } from './said-error.ts';

const pagePrefix = 'docs://pages/';
const skillPrefix = 'docs://skills/';
const pageTemplate = `${pagePrefix}{+path}`;
const skillTemplate = `${skillPrefix}{name}`;
const listedAtOnce = 200;
const mostCompletions = 100;
const longestUri = 2_000;
const markdownType = 'text/markdown';
const promptName = 'answer_from_docs';

const uriOfPage = (path: string): string => pagePrefix + path.split('/').map(encodeURIComponent).join('/');
const uriOfSkill = (name: string): string => skillPrefix + encodeURIComponent(name);

/** Adds pages and skills as resources, the prompt, and completions of paths, names and versions. */
export function addDocsResources({ server }: McpServer, source: DocsSource): void {
  /** The answer of a handler. Its error says only what the reader may know. */
  const answering = async <T>(answer: () => Promise<T>): Promise<T> => {
    try {
      return await answer();
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      throw new ProtocolError(ProtocolErrorCode.InternalError, saidError(error, source));
    }
  };

  server.setRequestHandler('resources/list', ({ params }) =>
    answering(async () => {
      const resources = resourcesOf(await source.outline());
      const start = startOf(params?.cursor);
      const end = start + listedAtOnce;
      return {
        resources: resources.slice(start, end),
        ...(end < resources.length ? { nextCursor: String(end) } : {}),
      };
    }),
  );

  server.setRequestHandler('resources/templates/list', async () => ({
    resourceTemplates: [
      {
        name: 'page',
        title: 'A page',
        uriTemplate: pageTemplate,
        mimeType: markdownType,
        description: 'The Markdown of a page.',
      },
      {
        name: 'skill',
        title: 'A skill',
        uriTemplate: skillTemplate,
        mimeType: markdownType,
        description: 'Instructions for agents.',
      },
    ],
  }));

  server.setRequestHandler('resources/read', ({ params: { uri } }) =>
    answering(async () => {
      const text = uri.length > longestUri ? undefined : await textOf(source, uri);
      if (text === undefined)
        throw new ResourceNotFoundError(
          uri.slice(0, longestUri),
          `There is no resource ${JSON.stringify(uri.slice(0, 300))} here.`,
        );
      source.onCall?.({ tool: 'resource' });
      return { contents: [{ uri, mimeType: markdownType, text }] };
    }),
  );

  server.setRequestHandler('prompts/list', async () => ({
    prompts: [
      {
        name: promptName,
        title: 'Answer from the documentation',
        description: 'Answers a question from this documentation alone, with the addresses of the pages.',
        arguments: [
          { name: 'question', description: 'The question.', required: true },
          { name: 'page', description: 'Path of a page to begin with.', required: false },
        ],
      },
    ],
  }));

  server.setRequestHandler('prompts/get', ({ params }) =>
    answering(async () => {
      if (params.name !== promptName)
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          `There is no prompt "${params.name.slice(0, 100)}" here.`,
        );
      const given = promptArguments.safeParse(params.arguments ?? {}, { error: problemText });
      if (!given.success)
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          `The argument ${firstProblem(given.error, 'of the prompt')}.`,
        );
      const { question, page } = given.data;
      const { name } = await source.outline();
      const begin =
        page === undefined ? 'Begin with the tool search' : `Begin with read_page of "${page}", then use search`;
      const text = [
        `Answer the question below from the documentation "${name}" alone.`,
        `${begin}, and read whole pages with read_page where a passage is not enough.`,
        'Cite the address of each page that you use. If the documentation does not have the answer, say so, and do not guess.',
        '',
        `Question: ${question}`,
      ].join('\n');
      return { messages: [{ role: 'user', content: { type: 'text', text } }] };
    }),
  );

  server.setRequestHandler('completion/complete', ({ params: { ref, argument } }) =>
    answering(async () => {
      const { pages, skills } = await source.outline();
      const isPage =
        ref.type === 'ref/prompt'
          ? ref.name === promptName && argument.name === 'page'
          : ref.uri === pageTemplate && argument.name === 'path';
      const isSkill = ref.type === 'ref/resource' && ref.uri === skillTemplate && argument.name === 'name';
      const names = isPage ? pages.map(({ path }) => path) : isSkill ? skills.map(({ name }) => name) : [];
      return { completion: completionsOf(names, argument.value) };
    }),
  );
}

const promptArguments = z.object({ question: z.string().min(1).max(4_000), page: z.string().max(1_000).optional() });

/** Skills first, then pages in the order of the navigation. */
function resourcesOf({ skills, pages, name }: DocsOutline) {
  return [
    ...skills.map((skill) => ({
      ...{ uri: uriOfSkill(skill.name), name: skill.name, title: `Skill: ${skill.name}`, mimeType: markdownType },
      description: skill.description,
    })),
    ...pages.map(({ path, title, description }) => ({
      ...{ uri: uriOfPage(path), name: path, title, mimeType: markdownType },
      description: description ?? `A page of ${name}.`,
    })),
  ];
}

/** The position of a cursor. A cursor of another list begins at the end, where there is nothing. */
function startOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  return /^\d{1,9}$/.test(cursor) ? Number(cursor) : Number.MAX_SAFE_INTEGER;
}

async function textOf(source: DocsSource, uri: string): Promise<string | undefined> {
  const name = (prefix: string): string | undefined => {
    if (!uri.startsWith(prefix)) return undefined;
    try {
      return decodeURIComponent(uri.slice(prefix.length));
    } catch {
      return undefined;
    }
  };
  const page = name(pagePrefix);
  if (page !== undefined) return (await source.readPage(`/${page}`))?.markdown;
  const skill = name(skillPrefix);
  return skill === undefined ? undefined : await source.readSkill(skill);
}

/** Names with the typed text, those that begin with it first. */
function completionsOf(names: readonly string[], typed: string): { values: string[]; total: number; hasMore: boolean } {
  const text = typed.toLowerCase().replace(/^\//, '');
  const matching = names.filter((name) => name.toLowerCase().includes(text));
  const rank = (name: string): number => (name.toLowerCase().startsWith(text) ? 0 : 1);
  const sorted = matching.toSorted((a, b) => rank(a) - rank(b));
  return { values: sorted.slice(0, mostCompletions), total: sorted.length, hasMore: sorted.length > mostCompletions };
}
