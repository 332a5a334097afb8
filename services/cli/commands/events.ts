import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { HistoryEntry } from '#shared/interfaces/http/exports.ts';
import { jobPath } from '../api-client.ts';
import { checkTarget } from '../check-target.ts';
import { type ServerCommandOptions, withConnection } from '../command-options.ts';
import { connect } from '../connection.ts';
import { counted } from '#shared/runtime/figures.ts';
import { createOutput, paintFor, terminalWidth } from '../terminal.ts';
import { timelineHtml } from '../timeline/timeline-html.ts';
import { timelineOf } from '#shared/timeline/timeline-of.ts';
import { timelineText } from '../timeline/timeline-text.ts';
import { eventLine } from '#shared/timeline/words.ts';

type Options = ServerCommandOptions & { list: boolean; html?: string };

/** Maximum number of events that are listed below the picture. More would scroll it away, so they need `--list`. */
const mostListed = 40;

export function eventsCommand(program: Command): void {
  withConnection(program.command('events'))
    .description('show the timeline of an export job: phases, chunks by renderer, waits and retries')
    .argument('<jobId>', 'id of the job, as shown by "bindery jobs"')
    .option('--list', 'only the events, one per line', false)
    .option('--html <file>', 'write the timeline to a self-contained HTML file')
    .addHelpText(
      'after',
      `
The picture is as wide as the terminal. Each renderer has a lane, with a row for each chunk that it worked on at the same
time. A chunk ends at its commit, and starts earlier by the duration that its renderer reports.
With --json the history is printed as the server sends it.`,
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
