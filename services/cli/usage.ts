import { type Command, Option } from 'commander';
import type { Usage } from '#shared/contracts/http/usage.ts';
import { connect } from './connection.ts';
import { createOutput } from './output.ts';
import { paintFor } from './paint.ts';
import { terminalWidth } from './terminal-width.ts';
import { usageText } from './usage-text.ts';
import { type ServerCommandOptions, withConnection } from './with-connection.ts';

type Options = ServerCommandOptions & { month?: string; months?: string };

export function usageCommand(program: Command): void {
  withConnection(program.command('usage'))
    .description('what the organization of the key used: exports, pages, bundles, links, publications')
    .option('--month <month>', 'by day, in a month such as 2026-03; this month by default')
    .addOption(
      new Option('--months <first..last>', 'by month, such as 2026-01..2026-03, at most 24').conflicts('month'),
    )
    .action(async (options: Options) => {
      const { month, months } = options;
      const usage = await connect(options, 'admin').json<Usage>('/v1/usage', { query: { month, months } });
      const looks = { width: terminalWidth(process.stdout), paint: paintFor(process.stdout, process.env) };
      createOutput(options.json).result(usage, usageText(usage, looks));
    });
}
