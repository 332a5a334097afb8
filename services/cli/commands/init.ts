import { type Command, InvalidArgumentError, Option } from 'commander';
import { binderyCommand, startCommand } from '#shared/runtime/command-words.ts';
import { counted } from '#shared/runtime/figures.ts';
import type { GivenAnswers } from '../new-project/ask-answers.ts';
import { createOutput, paintFor } from '../terminal.ts';

type InitOptions = GivenAnswers & { from?: string; into: string; schema: boolean; json: boolean };

const formats = ['docusaurus', 'starlight', 'vitepress', 'mkdocs'];

export function initCommand(program: Command): void {
  program
    .command('init')
    .description('begin a docs project, or bring one over from another generator')
    .argument('[folder]', 'the folder of the new project; with --from, the project to bring over', '.')
    .option('--name <name>', 'name of the product or project (default: that of the folder)')
    .option('--color <color>', 'the colour of links and buttons, such as #0f766e')
    .option('--api', 'with the description of an HTTP API')
    .option('--no-api', 'without one')
    .option('--yes', 'ask nothing, and take the defaults', false)
    .addOption(new Option('--from <generator>', 'bring a project over that this generator builds').choices(formats))
    .option('--into <folder>', 'with --from, the folder of the new project', 'bindery-docs')
    .option(
      '--schema',
      'only write docs.schema.json, with which editors know docs.json, into a project that is there',
      false,
    )
    .option('--json', 'print JSON only', false)
    .addHelpText(
      'after',
      `
On a terminal it asks for what no option gives. It never overwrites a file, and needs no network.

With --from it brings over pages, navigation, admonitions, tabs and redirects, without running the project's configuration, and lists what it could not
bring over: "file:line: sentence".`,
    )
    .action(async (folder: string, options: InitOptions) => {
      if (options.schema) await writeOwnSchema(folder, options.json);
      else if (options.from === undefined) await begin(folder, options);
      else await bring(folder, options.from, options);
    });
}

async function begin(folder: string, { json, ...given }: InitOptions): Promise<void> {
  const { askAnswers } = await import('../new-project/ask-answers.ts');
  const { starterProject } = await import('../new-project/starter-project.ts');
  const { withSchema, writeProject } = await import('../new-project/write-project.ts');
  const answers = await askAnswers(folder, json ? { ...given, yes: true } : given, {
    input: process.stdin,
    output: process.stderr,
  });
  const files = withSchema(starterProject(answers));
  await writeProject(folder, files);
  createOutput(json).result(
    { folder, ...answers, files: [...files.keys()] },
    `Made ${answers.name} in ${folder}: ${counted(files.size, 'file')}.\n\nTry next:\n  ${binderyCommand} dev ${folder} --open\n  ${binderyCommand} check ${folder}\n\nTo publish it on this machine, let "${startCommand}" run in another terminal, in this folder, then:\n  ${binderyCommand} publish ${folder}`,
  );
}

async function writeOwnSchema(folder: string, json: boolean): Promise<void> {
  const { writeSchema } = await import('../new-project/write-project.ts');
  await writeSchema(folder);
  createOutput(json).result(
    { folder, files: ['docs.schema.json'] },
    `Wrote docs.schema.json in ${folder}. Name it in docs.json: "$schema": "./docs.schema.json", and in .mintignore, so that it is no part of the site.`,
  );
}

async function bring(source: string, from: string, { into, json }: InitOptions): Promise<void> {
  const { bringOver, sourceFormats } = await import('../bring-over/bring-over.ts');
  const { withSchema, writeProject } = await import('../new-project/write-project.ts');
  const format = sourceFormats.find((each) => each === from);
  if (format === undefined) throw new InvalidArgumentError(`There is no generator "${from}".`);
  const { files: brought, pages, left } = await bringOver(format, source);
  const files = withSchema(brought);
  await writeProject(into, files);
  const paint = paintFor(process.stdout, process.env);
  const lines = left.map(({ file, line, what }) => `${paint('bold', `${file}:${line}`)}: ${what}.`);
  createOutput(json).result(
    { folder: into, pages, files: files.size, left },
    [
      ...(lines.length > 0 ? ['Not brought over:', ...lines, ''] : []),
      `Brought ${counted(pages, 'page')} over into ${into}; ${lines.length === 0 ? 'nothing was left' : `${counted(lines.length, 'place')} to look at`}.`,
      `\nTry next:\n  ${binderyCommand} check ${into}`,
    ].join('\n'),
  );
}
