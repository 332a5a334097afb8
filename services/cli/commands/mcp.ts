import type { Command } from 'commander';

export function mcpCommand(program: Command): void {
  program
    .command('mcp')
    .description(
      'answer an agent about a docs project in a folder, over standard input and output (Model Context Protocol)',
    )
    .argument('[folder]', 'the folder with docs.json', '.')
    .addHelpText(
      'after',
      `
Agents start this command themselves. Claude Code: claude mcp add docs -- npx bindery mcp ./docs
It reads the project again when a file changes, and ends with its input.`,
    )
    .action(async (folder: string) => {
      const [{ openLocalDocs }, { docsServer }, { serveStdio }] = await Promise.all([
        import('../local-docs.ts'),
        import('#shared/mcp/docs-server.ts'),
        import('@modelcontextprotocol/server/stdio'),
      ]);
      // Standard output is for the protocol alone.
      const say = (sentence: string): void => void process.stderr.write(`${sentence}\n`);
      const docs = await openLocalDocs(folder, say);
      const ended = new Promise<void>((resolve) => {
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
        process.stdin.once('end', () => resolve());
        process.stdin.once('close', () => resolve());
      });
      const serving = serveStdio(() => docsServer(docs, { name: 'docs', title: docs.name }));
      say(`Agents can ask about "${docs.name}" now.`);
      await ended;
      await serving.close();
      await docs.close();
    });
}
