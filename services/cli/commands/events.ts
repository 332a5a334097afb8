import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { HistoryEntry } from '#shared/contracts/http/exports.ts';
import { jobPath } from '../api-client.ts';
import { checkTarget } from '../check-target.ts';
import { type ServerCommandOptions, withConnection } from '../command-options.ts';
import { connect } from '../connection.ts';
import { counted } from '../format.ts';
import { createOutput, paintFor, terminalWidth } from '../terminal.ts';
import { timelineHtml } from '../timeline/timeline-html.ts';
import { timelineOf } from '../timeline/timeline-of.ts';
import { timelineText } from '../timeline/timeline-text.ts';
import { eventLine } from '../timeline/words.ts';

type Options = ServerCommandOptions & { list: boolean; html?: string };

/** More events than this would scroll the picture away, so they are listed only with `--list`. */
const mostListed = 40;

export function eventsCommand(program: Command): void {
  withConnection(program.command('events'))
    .description('show what happened in an export job: a timeline of phases, chunks by renderer, waits and retries')
    .argument('<jobId>', 'as "bindery jobs" shows it')
    .option('--list', 'only the events, one a line', false)
    .option('--html <file>', 'write the timeline as one HTML file that needs nothing else')
    .addHelpText(
      'after',
      `
The picture is as wide as the terminal. Each renderer has a lane, with a row for each chunk that it worked on at the same
time. A chunk ends when it was committed, and starts earlier by the time that its renderer reports.
With --json the history is printed as the server gives it.`,
    )
    .action(async (jobId: string, options: Options) => {
      const output = createOutput(options.json);
      if (options.html !== undefined) await checkTarget('--html', options.html, 'timeline.html');
      const history = await connect(options, 'admin').json<{ events: HistoryEntry[] }>(`${jobPath(jobId)}/events`);
      const list = history.events.map(eventLine);
      if (options.html !== undefined) {
        await writeFile(options.html, timelineHtml(timelineOf(history.events, new Date())));
        output.result({ file: options.html }, `Wrote ${options.html}.`);
        return;
      }
      if (options.list || options.json) {
        output.result(history, list.join('\n'));
        return;
      }
      const picture = timelineText(timelineOf(history.events, new Date()), {
        width: terminalWidth(process.stdout),
        paint: paintFor(process.stdout, process.env),
      });
      const below = list.length > mostListed ? [`${counted(list.length, 'event')}; --list shows them.`] : list;
      output.result(history, [picture, '', ...below].join('\n'));
    });
}
