import type { Command } from 'commander';
import type { HistoryEntry } from '#shared/contracts/http/export-history.ts';
import { connect } from './connection.ts';
import { createOutput } from './output.ts';
import { type ServerCommandOptions, withConnection } from './with-connection.ts';

export function eventsCommand(program: Command): void {
  withConnection(program.command('events'))
    .description('the history of an export job: what happened when, and by whom')
    .argument('<jobId>')
    .action(async (jobId: string, options: ServerCommandOptions) => {
      const history = await connect(options, 'admin').json<{ events: HistoryEntry[] }>(
        `/v1/static-export/jobs/${jobId}/events`,
      );
      createOutput(options.json).result(history, history.events.map(eventLine).join('\n'));
    });
}

function eventLine(event: HistoryEntry): string {
  const facts = Object.entries(event.data ?? {})
    .filter(([, value]) => value !== null && typeof value !== 'object')
    .map(([name, value]) => `${name}=${String(value)}`);
  return `${String(event.revision).padStart(4)}  ${event.time}  ${event.type.padEnd(18)} ${event.actor.kind}:${event.actor.id}  ${facts.join(' ')}`.trimEnd();
}
