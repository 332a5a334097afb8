import { readFileSync } from 'node:fs';
import { Command, CommanderError, Help, InvalidArgumentError } from 'commander';
import { ApiFailure } from './api-client.ts';
import { addCommands } from './commands.ts';
import { inWordsOfFlags } from './words-of-flags.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The command that is asked for. */
let running: Command | undefined;
const program = new Command('bindery')
  .version(version, '--version', 'print the version')
  .description('Answers questions about documentation, and exports it as one archive of static files.')
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'bindery: ')) })
  .showHelpAfterError('(--help says how it is used)')
  // That a switch is off by default goes without saying.
  .configureHelp({
    optionDescription: (option) =>
      option.defaultValue === false ? option.description : new Help().optionDescription(option),
  })
  .exitOverride()
  // Or "--version" of an export would print the version of the program.
  .enablePositionalOptions()
  .hook('preAction', (_program, command) => {
    running = command;
  });
await addCommands(program, process.argv[2]);

// The reader may stop early: "bindery events … | head".
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`bindery: What it prints cannot be written: ${error.message}.\n`);
  process.exit(1);
});

try {
  if (process.argv.length === 2) program.outputHelp();
  else await program.parseAsync();
} catch (error) {
  // Help that was asked for also arrives here.
  if (error instanceof CommanderError && error.exitCode === 0) process.exit(0);
  const isUsage = error instanceof CommanderError && !(error instanceof InvalidArgumentError);
  const said = error instanceof Error ? error.message : String(error);
  const message = (error instanceof ApiFailure ? inWordsOfFlags(said, error.fields, running) : said).replace(
    /^error: /,
    '',
  );
  const code = isUsage ? 'usage' : ((error as { code?: unknown }).code ?? 'failed');
  if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify({ error: message, code })}\n`);
  // Wrong usage is on standard error already.
  if (!isUsage) process.stderr.write(`bindery: ${message}\n`);
  if (process.env.BINDERY_LOG_LEVEL === 'debug' && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  process.exit(1);
}
