#!/usr/bin/env node
import { addCommands } from './commands.ts';
import { Command } from 'commander';

const program = new Command('bindery')
  .description('Answers questions about documentation, and exports it as one archive of static files.')
  .showHelpAfterError();
addCommands(program);

try {
  await program.parseAsync();
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  const json = process.argv.includes('--json');
  if (json)
    process.stdout.write(
      `${JSON.stringify({ error: message, code: (error as { code?: unknown }).code ?? 'failed' })}\n`,
    );
  process.stderr.write(`bindery: ${message}\n`);
  if (process.env.BINDERY_LOG_LEVEL === 'debug' && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  process.exit(1);
}
