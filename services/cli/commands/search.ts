import type { Command } from 'commander';
import type { SearchAnswer } from '#shared/contracts/http/assistant.ts';
import { numberBetween, type ServerCommandOptions, wholeNumber, withConnection } from '../command-options.ts';
import { connect } from '../connection.ts';
import { printable } from '../format.ts';
import { createOutput } from '../terminal.ts';

type Options = ServerCommandOptions & {
  limit?: number;
  minScore?: number;
  version?: string;
  language?: string;
  tag?: string;
  groups?: string[];
};

const shownCharacters = 240;

export function searchCommand(program: Command): void {
  withConnection(program.command('search'))
    .description('find the passages of a domain that fit a query best')
    .argument('<domain>', 'slug or host name')
    .argument('<query>', 'words, a flag, a code or a path')
    .option('--limit <number>', 'the most passages (10)', wholeNumber(1, 50))
    .option('--min-score <score>', 'only passages with this score or a better one, 0 to 1', numberBetween(0, 1))
    .option('--version <version>', 'only pages of this version in the navigation')
    .option('--language <language>', 'only pages in this language')
    .option('--tag <tag>', 'only pages with this tag')
    .option('--groups <groups...>', 'also pages restricted to these groups')
    .action(async (domain: string, query: string, options: Options) => {
      const { limit, minScore, version, language, tag, groups } = options;
      const found = await connect(options, 'assistant').json<SearchAnswer>(
        `/discovery/v1/search/${encodeURIComponent(domain)}`,
        {
          method: 'POST',
          json: { query, pageSize: limit, scoreThreshold: minScore, filter: { version, language, tag, groups } },
        },
      );
      const text = found.length === 0 ? 'Nothing was found.' : found.map(passageText).join('\n\n');
      createOutput(options.json).result(found, text);
    });
}

/** Title, heading, address and score of a passage, and how it begins. Pure. */
export function passageText({ content, metadata }: SearchAnswer[number]): string {
  const { title, heading, url, score } = metadata;
  const name = heading === '' || heading === title ? title : `${title} › ${heading}`;
  const words = printable(content);
  const start = words.length > shownCharacters ? `${words.slice(0, shownCharacters).replace(/\s+\S*$/, '')} …` : words;
  return `${score.toFixed(2)}  ${printable(name)} (${printable(url)})\n      ${start}`;
}
