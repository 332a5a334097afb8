import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { type ConnectionOptions, connect } from '../connection.ts';
import { numberBetween, wholeNumber, withConnection } from '../command-options.ts';
import { whenLatestSearched } from '../publish-project.ts';
import { folderProject } from '../folder-project.ts';
import { counted, printable } from '#shared/runtime/figures.ts';
import { figuresOf, type MeasuredAnswer, measureQuestion } from '../assistant-bench/measure-assistant.ts';
import { readAssistantQuestions } from '../assistant-bench/read-assistant-questions.ts';
import { domainSite } from '../search-bench/domain-site.ts';
import {
  type AskedPage,
  readQuestions,
  type SearchQuestion,
  siteQuestions,
  someOfEach,
} from '../search-bench/questions.ts';
import { askQuestions, type Missed, recallText } from '../search-bench/recall.ts';
import { createOutput } from '../terminal.ts';

type Options = ConnectionOptions & {
  json: boolean;
  limit: number;
  misses: boolean;
  minRecall?: number;
  mostPages: number;
};

/** The measured site: the pages that questions are made from, and the search over them. */
type Site = {
  pages(): Promise<AskedPage[]>;
  search(question: SearchQuestion): Promise<string[]>;
  /** True if the search knows a page at this path. */
  has(path: string): Promise<boolean>;
  /** A limitation of the figures that the reader should know. */
  note?: string;
  close(): Promise<void>;
};

export function benchCommand(program: Command): void {
  const bench = program.command('bench').description('measure the quality of a documentation site');
  withConnection(bench.command('search'))
    .description('measure how well questions find their pages')
    .argument('<site>', 'folder with docs.json, or slug or host name of a domain')
    .argument(
      '[questions]',
      'file with one question per line, {"query": "…", "pages": ["/…"]}; by default link texts, titles and descriptions of the site',
    )
    .option('--limit <number>', 'maximum number of questions of each kind', wholeNumber(1, 100_000), 500)
    .option(
      '--most-pages <number>',
      'maximum number of pages of a domain from which questions are made',
      wholeNumber(1, 10_000),
      300,
    )
    .option('--misses', 'also list the questions whose page is not among the first five', false)
    .option(
      '--min-recall <share>',
      'exit with code 1 if recall@5 of all questions is lower, 0 to 1',
      numberBetween(0, 1),
    )
    .addHelpText(
      'after',
      `
A folder is indexed for the measurement only; nothing is published, and no server is needed.
recall@1 and recall@5: the share of questions whose right page comes first, or among the first five.`,
    )
    .action((site: string, questions: string | undefined, options: Options) => benchSearch(site, questions, options));
  const share = numberBetween(0, 1);
  withConnection(bench.command('assistant'))
    .description('measure how well the assistant answers questions about a domain')
    .argument('<domain>', 'slug or host name of a domain')
    .requiredOption(
      '--questions <file>',
      'file with one question per line: {"query": "…", "pages": ["/…"]}, {"query": "…", "parts": [["/…"], ["/…"]]}, or {"query": "…"} if nothing answers it',
    )
    .option('--misses', 'also list the questions that are not answered from a right page', false)
    .option('--min-first <share>', 'exit with code 1 if fewer answers name a right page first, 0 to 1', share)
    .option('--min-three <share>', 'the same for a right page among the first three', share)
    .option('--min-parts <share>', 'the same for questions of several parts that are answered in all parts', share)
    .option('--min-refused <share>', 'the same for questions that nothing answers and that are refused', share)
    .option('--min-citations <share>', 'the same for citations whose page has the words of the answer', share)
    .action((domain: string, options: AssistantOptions) => benchAssistant(domain, options));
}

type AssistantOptions = ConnectionOptions & {
  json: boolean;
  questions: string;
  misses: boolean;
  minFirst?: number;
  minThree?: number;
  minParts?: number;
  minRefused?: number;
  minCitations?: number;
};

async function benchAssistant(domain: string, options: AssistantOptions): Promise<void> {
  const output = createOutput(options.json);
  const questions = await readAssistantQuestions(options.questions);
  const client = connect(options, 'assistant');
  await whenLatestSearched(client, domain);
  const answers: MeasuredAnswer[] = [];
  for (const question of questions) answers.push(await measureQuestion(client, domain, question));
  const figures = figuresOf(questions, answers);
  const percent = (value: number | undefined): string => (value === undefined ? '-' : `${(value * 100).toFixed(1)} %`);
  const rows: [string, string][] = [
    ['questions', String(figures.questions)],
    ...(figures.failed > 0 ? [['without a whole answer', String(figures.failed)] as [string, string]] : []),
    ['right page first', percent(figures.first)],
    ['right page among the first three', percent(figures.firstThree)],
    ['refused, although a page answers', percent(figures.refused)],
    ['all parts answered', percent(figures.allParts)],
    ['refused, because nothing answers', percent(figures.unanswerableRefused)],
    ['citations true', percent(figures.citations)],
    ['p50, p95', `${Math.round(figures.p50Milliseconds)} ms, ${Math.round(figures.p95Milliseconds)} ms`],
    ['tokens', String(figures.tokens)],
  ];
  const missed = answers.flatMap((answer, at) => {
    const right = questions[at]?.parts.flat() ?? [];
    return (right.length > 0 ? answer.rank === 1 : answer.isRefused) ? [] : [missText(answer, right)];
  });
  const lines = options.misses ? missed : [];
  const text = [...rows.map(([name, value]) => `${name.padEnd(36)}${value}`), ...lines].join('\n');
  output.result({ domain, figures, answers }, text);
  const unknown = [...new Set(answers.flatMap(({ unknownPages }) => unknownPages))];
  if (unknown.length > 0)
    output.note(
      printable(
        `The key finds no page at ${unknown.slice(0, mostLost).join(', ')}${unknown.length > mostLost ? ` and ${unknown.length - mostLost} more paths` : ''}, so no answer can name it. Check the paths of the questions.`,
      ),
    );
  const limits: [string, number | undefined, number | undefined][] = [
    ['right page first', figures.first, options.minFirst],
    ['right page among the first three', figures.firstThree, options.minThree],
    ['all parts answered', figures.allParts, options.minParts],
    ['refused, because nothing answers', figures.unanswerableRefused, options.minRefused],
    ['citations true', figures.citations, options.minCitations],
  ];
  for (const [name, value, least] of limits) {
    if (least === undefined || value === undefined || value >= least) continue;
    output.note(`${name}: ${value.toFixed(3)}, less than ${least}.`);
    process.exitCode = 1;
  }
}

/** The right pages of a question, and what its answer names instead. */
function missText({ query, named, problem }: MeasuredAnswer, right: readonly string[]): string {
  const wanted = right.length === 0 ? 'no answer' : right.join(', ');
  const paths = named.slice(0, 3).map((path) => `/${path}`);
  const instead = problem ?? (paths.length === 0 ? 'named nothing' : `named ${paths.join(', ')}`);
  return `  ${printable(`"${query.slice(0, 100)}" → ${wanted}; ${instead}`)}`;
}

async function benchSearch(named: string, file: string | undefined, options: Options): Promise<void> {
  const { json, limit, misses, minRecall, mostPages } = options;
  const output = createOutput(json);
  // The questions are read first, because reading the site may take minutes.
  const given = file === undefined ? undefined : await readQuestions(file);
  const site = await openSite(named, options, mostPages);
  try {
    const questions = someOfEach(given ?? siteQuestions(await site.pages()), limit);
    if (questions.length === 0)
      throw new Error(`No question can be made from ${named}. Write questions to a file, and give it after the site.`);
    if (given === undefined && site.note !== undefined) output.note(site.note);
    const { table, missed } = await askQuestions(questions, (question) => site.search(question));
    const all = table.whole();
    const rows = table.rows();
    const text = [recallText(rows.length > 1 ? [...rows, all] : rows), ...(misses ? missedLines(missed) : [])].join(
      '\n',
    );
    const lost = given === undefined ? [] : await withoutPage(missed, site);
    output.result({ site: named, kinds: rows, all, missed }, text);
    if (lost.length > 0) output.note(lostText(lost));
    if (minRecall !== undefined && all.recallAt5 < minRecall) {
      output.note(`recall@5 is ${all.recallAt5.toFixed(3)}, less than ${minRecall}.`);
      process.exitCode = 1;
    }
  } finally {
    await site.close();
  }
}

async function openSite(named: string, options: Options, mostPages: number): Promise<Site> {
  const there = await stat(named).catch(() => undefined);
  if (there?.isDirectory() !== true) {
    // Domain names have no such characters, so the argument must be a folder.
    if (/[/\\]|^\.+$|^~/.test(named)) {
      const why = there === undefined ? 'there is no such folder' : 'it is not a folder';
      throw new Error(`${named} cannot be measured: ${why}. Name the folder that has docs.json, or a domain.`);
    }
    const client = connect(options, 'assistant');
    await whenLatestSearched(client, named);
    const domain = domainSite(client, named);
    return {
      pages: () => domain.pages(mostPages),
      search: (question) => domain.search(question),
      has: (path) => domain.has(path),
      note: 'The index of a published site contains the links and descriptions that questions are made from, so recall is overstated: measure its folder to exclude them.',
      close: async () => undefined,
    };
  }
  const { openProjectSite } = await import('../search-bench/site-index.ts');
  const { pages, ...site } = await openProjectSite(await folderProject(named));
  return { ...site, pages: async () => pages };
}

function missedLines(missed: readonly Missed[]): string[] {
  if (missed.length === 0) return ['', 'Every question finds its page among the first five.'];
  const lines = missed.map(({ kind, query, pages, found }) => {
    const instead = found.length === 0 ? 'nothing' : found.map((path) => `/${path}`).join(', ');
    return `  ${printable(`${kind}: "${query.slice(0, 100)}" → /${pages[0] ?? ''}; found ${instead}`)}`;
  });
  const without = missed.length === 1 ? 'question without its page' : 'questions without their page';
  return ['', `${missed.length} ${without} among the first five:`, ...lines];
}

/** Missed questions whose pages are all unknown to the search: they say nothing about its quality. */
async function withoutPage(missed: readonly Missed[], site: Site): Promise<Missed[]> {
  const lost: Missed[] = [];
  for (const question of missed) {
    let isKnown = false;
    for (const path of question.pages) isKnown ||= await site.has(path);
    if (!isKnown) lost.push(question);
  }
  return lost;
}

const mostLost = 5;

function lostText(lost: readonly Missed[]): string {
  const named = lost.slice(0, mostLost).map(({ query, pages }) => `"${query.slice(0, 60)}" → /${pages[0] ?? ''}`);
  const others = lost.length > mostLost ? ` and ${lost.length - mostLost} more` : '';
  return printable(
    `${counted(lost.length, 'question')} cannot be answered, because search knows no page at the path: ${named.join(', ')}${others}. Check the paths; hidden pages and pages that are not searchable are not in the index.`,
  );
}
