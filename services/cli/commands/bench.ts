import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { type ConnectionOptions, connect } from '../connection.ts';
import { numberBetween, wholeNumber, withConnection } from '../command-options.ts';
import { folderProject } from '../folder-project.ts';
import { counted, printable } from '../format.ts';
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

/** What is measured: the pages that questions are made of, and what finds them. */
type Site = {
  pages(): Promise<AskedPage[]>;
  search(question: SearchQuestion): Promise<string[]>;
  /** Whether search knows a page at this path. */
  has(path: string): Promise<boolean>;
  /** What the figures are not. */
  note?: string;
  close(): Promise<void>;
};

export function benchCommand(program: Command): void {
  const bench = program.command('bench').description('measure how well a documentation does');
  withConnection(bench.command('search'))
    .description('measure how well questions find their pages')
    .argument('<site>', 'folder with docs.json, or slug or host name of a domain')
    .argument(
      '[questions]',
      'file with a question a line, {"query": "…", "pages": ["/…"]}; else link texts, titles and descriptions of the site itself',
    )
    .option('--limit <number>', 'the most questions of each kind', wholeNumber(1, 100_000), 500)
    .option(
      '--most-pages <number>',
      'the most pages of a domain that questions are made of',
      wholeNumber(1, 10_000),
      300,
    )
    .option('--misses', 'also list the questions whose page is not among the first five', false)
    .option('--min-recall <share>', 'exit with 1 when recall@5 of all questions is less, 0 to 1', numberBetween(0, 1))
    .addHelpText(
      'after',
      `
Of a folder an index is made for the time of the measurement; nothing is published, and no server is needed.
recall@1 and recall@5: the share of questions whose right page comes first, or among the first five.`,
    )
    .action((site: string, questions: string | undefined, options: Options) => benchSearch(site, questions, options));
}

async function benchSearch(named: string, file: string | undefined, options: Options): Promise<void> {
  const { json, limit, misses, minRecall, mostPages } = options;
  const output = createOutput(json);
  // Before the site is read, which may take long.
  const given = file === undefined ? undefined : await readQuestions(file);
  const site = await openSite(named, options, mostPages);
  try {
    const questions = someOfEach(given ?? siteQuestions(await site.pages()), limit);
    if (questions.length === 0)
      throw new Error(`No question can be made of ${named}. Write some into a file, and name it behind the site.`);
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
    // No domain has such a name, so a folder is meant.
    if (/[/\\]|^\.+$|^~/.test(named)) {
      const why = there === undefined ? 'there is no such folder' : 'it is no folder';
      throw new Error(`${named} cannot be measured: ${why}. Name the folder that has docs.json, or a domain.`);
    }
    const domain = domainSite(connect(options, 'assistant'), named);
    return {
      pages: () => domain.pages(mostPages),
      search: (question) => domain.search(question),
      has: (path) => domain.has(path),
      note: 'Links and descriptions of a published site answer the questions that are made of them: measure its folder to leave them out.',
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

/** Of the questions that were missed those that name no page which search knows: they say nothing of how good it is. */
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
    `${counted(lost.length, 'question')} cannot be answered, because search knows no page at the path: ${named.join(', ')}${others}. Look at the paths; hidden pages, and those that are not searchable, are not known.`,
  );
}
