import type { Command } from 'commander';
import { askQuestion } from './ask-question.ts';
import { connect } from './connection.ts';
import { createOutput } from './output.ts';
import { type ServerCommandOptions, withConnection } from './with-connection.ts';

type Options = ServerCommandOptions & { thread?: string };

export function askCommand(program: Command): void {
  withConnection(program.command('ask'))
    .description('ask a question about the documentation of a domain')
    .argument('<domain>', 'slug or host name')
    .argument('<question>')
    .option('--thread <threadId>', 'go on with an earlier conversation')
    .action(async (domain: string, question: string, options: Options) => {
      const output = createOutput(options.json);
      const live = !options.json && process.stdout.isTTY;
      const answer = await askQuestion(connect(options, 'assistant'), domain, question, {
        ...(options.thread === undefined ? {} : { threadId: options.thread }),
        ...(live ? { onText: (text: string) => void process.stdout.write(text) } : {}),
      });
      const sources = answer.sources.map((source) => `→ ${source.title} (${source.url})`);
      const thread = answer.threadId === undefined ? [] : [`thread ${answer.threadId}`];
      output.result(answer, [live ? '' : answer.text, '', ...sources, ...thread].join('\n'));
    });
}
