import type { Command } from 'commander';
import { type SearchAnswer, searchNoticeHeader } from '#shared/interfaces/http/assistant.ts';
import { numberBetween, type ServerCommandOptions, wholeNumber, withConnection } from '../command-options.ts';
import { connect } from '../connection.ts';
import { printable } from '#shared/runtime/figures.ts';
import { createOutput, textTable } from '../terminal.ts';

type Options = ServerCommandOptions & {
  limit?: number;
  minScore?: number;
  version?: string;
  language?: string;
  tag?: string;
  groups?: string[];
  explain?: boolean;
};

const shownCharacters = 240;

export function searchCommand(program: Command): void {
  withConnection(program.command('search'))
    .description('search the documentation of a domain')
    .argument('<domain>', 'slug or host name')
    .argument('<query>', 'words, a flag, a code or a path')
    .option('--limit <number>', 'maximum number of passages (10)', wholeNumber(1, 50))
    .option('--min-score <score>', 'minimum score of a passage, 0 to 1', numberBetween(0, 1))
    .option('--version <version>', 'only pages of this version in the navigation')
    .option('--language <language>', 'only pages in this language')
    .option('--tag <tag>', 'only pages with this tag')
    .option('--groups <groups...>', 'also pages restricted to these groups')
    .option('--explain', 'table of the contribution of each ranking signal; needs an admin key')
    // Queries of documentation are often flags, such as --dry-run, which look like options of this command.
    .showHelpAfterError(
      '(Put -- before a query that begins with a hyphen: search acme -- --dry-run. --help has all options.)',
    )
    .addHelpText('after', '\nPut -- before a query that begins with a hyphen: bindery search acme -- --dry-run')
    .action(async (domain: string, query: string, options: Options) => {
      const { limit, minScore, version, language, tag, groups, explain } = options;
      const answer = await connect(options, explain === true ? 'admin' : 'assistant').raw(
        `/discovery/v1/search/${encodeURIComponent(domain)}`,
        {
          method: 'POST',
          json: {
            query,
            pageSize: limit,
            scoreThreshold: minScore,
            filter: { version, language, tag, groups },
            explain,
          },
        },
      );
      const found = (await answer.json()) as SearchAnswer;
      const output = createOutput(options.json);
      const notice = answer.headers.get(searchNoticeHeader);
      if (notice !== null) output.note(notice);
      const shown = explain === true ? explanationText(found) : found.map(passageText).join('\n\n');
      output.result(found, found.length === 0 ? 'Nothing was found.' : shown);
    });
}

/** Title, heading, address and score of a passage, and the start of its text. Pure. */
export function passageText({ content, metadata }: SearchAnswer[number]): string {
  const { title, heading, url, score } = metadata;
  const name = heading === '' || heading === title ? title : `${title} › ${heading}`;
  const words = printable(content);
  const start = words.length > shownCharacters ? `${words.slice(0, shownCharacters).replace(/\s+\S*$/, '')} …` : words;
  return `${score.toFixed(2)}  ${printable(name)} (${printable(url)})\n      ${start}`;
}

/**
 * A table with a line for each passage: its score, its share of the question's words, the contribution of each ranking signal, and its address. After
 * it, the words of the question with the terms that were searched for them. Pure.
 */
export function explanationText(found: SearchAnswer): string {
  const explained = found.map(({ metadata }) => metadata);
  const names = [...new Set(explained.flatMap(({ explanation }) => Object.keys(explanation?.signals ?? {})))];
  const rows = explained.map(({ score, url, explanation }) => [
    score.toFixed(3),
    explanation?.coverage.toFixed(2) ?? '',
    ...names.map((name) => explanation?.signals[name]?.toFixed(2) ?? ''),
    printable(url),
  ]);
  const words = (explained[0]?.explanation?.words ?? []).map(({ word, terms }) => {
    const searched = Object.entries(terms).map(([term, share]) => (share === 1 ? term : `${term} × ${share}`));
    return `  ${printable(word)}: ${searched.length === 0 ? 'nowhere' : printable(searched.join(', '))}`;
  });
  return [textTable(['score', 'coverage', ...names, 'passage'], rows), 'Searched words:', ...words].join('\n');
}
