import { Command, type Option } from 'commander';
import { addCommands } from '../commands.ts';
import { code, markdownTable, page, plain } from './markdown.ts';

/** Options of all commands that call a server, which the page names only once. */
const common = new Set(['--json', '--url', '--key', '--data']);

export async function commandsPage(): Promise<string> {
  const program = await addCommands(new Command('bindery'));
  const sections = leaves(program).map(({ name, command }) => {
    const usage = [
      `bindery ${name}`,
      ...command.registeredArguments.map((argument) =>
        argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
      ),
    ].join(' ');
    const rows = [
      ...command.registeredArguments
        .filter(({ description }) => description !== '')
        .map((argument) => [code(argument.name()), withChoices(argument.description, argument.argChoices)]),
      ...command.options
        .filter(({ long }) => !common.has(long ?? ''))
        .map((option) => [code(option.flags), withChoices(optionText(option), option.argChoices)]),
    ];
    return [
      `## ${name}`,
      `\`\`\`sh\n${usage}\n\`\`\``,
      sentence(plain(command.description())),
      ...(rows.length === 0 ? [] : [markdownTable(['argument or option', 'meaning'], rows)]),
    ].join('\n\n');
  });
  return page(
    'Commands',
    'Every command of the command line, with its arguments and options.',
    'Commands that call a server also take `--url`, `--key`, `--data` and `--json`; see the [command line](/interfaces/command-line).',
    ...sections,
  );
}

function leaves(command: Command, parents: readonly string[] = []): { name: string; command: Command }[] {
  return command.commands.flatMap((child) => {
    const path = [...parents, child.name()];
    return child.commands.length > 0 ? leaves(child, path) : [{ name: path.join(' '), command: child }];
  });
}

const optionText = ({ description, mandatory, defaultValue, defaultValueDescription }: Option): string => {
  const said = defaultValueDescription ?? String(defaultValue);
  const byDefault = defaultValue === undefined || defaultValue === false ? '' : ` (default: ${said})`;
  return `${description}${byDefault}${mandatory ? ' (required)' : ''}`;
};

/** The description, with the choices appended if it does not name them all. */
function withChoices(text: string, choices: readonly string[] = []): string {
  const missing = choices.filter((choice) => !text.includes(choice));
  return plain(text) + (missing.length === 0 ? '' : `; one of ${choices.map(code).join(', ')}`);
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
