import { Command, CommanderError, Help, InvalidArgumentError } from 'commander';
import { missingPackage } from '#shared/runtime/installed-packages.ts';
import { programVersion } from '#shared/runtime/program-version.ts';
import { ApiFailure } from './api-client.ts';
import { addCommands } from './commands.ts';
import { inWordsOfFlags } from './words-of-flags.ts';

/** The command that runs. */
let running: Command | undefined;
const program = new Command('bindery')
  .version(programVersion, '--version', 'print the version')
  .description('Answers questions about documentation, and exports it as one archive of static files.')
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'bindery: ')) })
  .showHelpAfterError('(see --help for usage)')
  // The default of a switch is off, which the help does not repeat.
  .configureHelp({
    optionDescription: (option) =>
      option.defaultValue === false ? option.description : new Help().optionDescription(option),
  })
  .exitOverride()
  // Without this, "--version" of an export would print the version of the program.
  .enablePositionalOptions()
  .hook('preAction', (_program, command) => {
    running = command;
  });
await addCommands(program, process.argv[2]);

/** True once the reader of a pipe has stopped early: "bindery events … | head". */
let isUnread = false;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') {
    if (isUnread) return;
    isUnread = true;
    // A command that must end its servers or remove files has a handler for this signal. Its later output is dropped.
    if (process.listenerCount('SIGTERM') === 0) process.exit(0);
    process.kill(process.pid, 'SIGTERM');
    return;
  }
  process.stderr.write(`bindery: The output cannot be written: ${error.message}.\n`);
  process.exit(1);
});

try {
  if (process.argv.length === 2) program.outputHelp();
  else await program.parseAsync();
} catch (error) {
  // Printing help also throws a `CommanderError`.
  if (error instanceof CommanderError && error.exitCode === 0) process.exit(0);
  const isUsage = error instanceof CommanderError && !(error instanceof InvalidArgumentError);
  const said = missingPackage(error) ?? (error instanceof Error ? error.message : String(error));
  const message = (error instanceof ApiFailure ? inWordsOfFlags(said, error.fields, running) : said).replace(
    /^error: /,
    '',
  );
  const code = isUsage ? 'usage' : ((error as { code?: unknown }).code ?? 'failed');
  if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify({ error: message, code })}\n`);
  // Usage errors were already printed to standard error.
  if (!isUsage) process.stderr.write(`bindery: ${message}\n`);
  if (process.env.BINDERY_LOG_LEVEL === 'debug' && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  const { exitStatus } = error as { exitStatus?: unknown };
  process.exit(typeof exitStatus === 'number' ? exitStatus : 1);
}
