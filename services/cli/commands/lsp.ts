import { type Command, Option } from 'commander';

export function lspCommand(program: Command): void {
  program
    .command('lsp')
    .description(
      'check and complete a docs project in an editor, over standard input and output (Language Server Protocol)',
    )
    // Editors add `--stdio` and the number of their process to the call of every language server.
    .allowUnknownOption()
    .addOption(new Option('--stdio', 'accepted, and always the case').default(true).hideHelp())
    .addHelpText(
      'after',
      `
Editors start this command themselves; the page "Editors" of the documentation says how. It finds the project of each open document, so it needs no
folder. The findings are those of "bindery check".`,
    )
    .action(async () => {
      const { runLsp } = await import('../lsp/run-lsp.ts');
      runLsp();
    });
}
