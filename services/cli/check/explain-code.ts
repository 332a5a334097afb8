import type { FindingText } from '#shared/docs/findings/finding-text.ts';
import { findingAddress, findingTexts } from '#shared/docs/findings/finding-texts.ts';
import { sentence } from './finding-formats.ts';
import { WrongUse } from './wrong-use.ts';

/** The documentation of a code, for people and as a value. Throws `WrongUse` for a code that does not exist. Pure. */
export function explanation(code: string): { value: object; text: string } {
  const table: Readonly<Record<string, FindingText>> = findingTexts;
  const found = Object.hasOwn(table, code) ? table[code] : undefined;
  if (found === undefined) {
    const alike = Object.keys(table).filter((name) => name.includes(code) || code.includes(name));
    const hint = alike.length > 0 ? ` There are ${alike.slice(0, 5).join(', ')}.` : '';
    throw new WrongUse(
      `There is no code ${JSON.stringify(code.slice(0, 60))}.${hint} All of them: ${findingAddress('')}`.replace(
        /#$/,
        '',
      ),
    );
  }
  const { severity, says, repair, example, fix = false } = found;
  const indented = (text: string): string => text.replaceAll(/^/gm, '    ');
  const parts = [
    `${code} (${severity})`,
    sentence(says),
    repair,
    ...(example === undefined
      ? []
      : [
          `${example.file}, with the finding:\n\n${indented(example.before)}`,
          ...(example.after === '' ? [] : [`Without it:\n\n${indented(example.after)}`]),
        ]),
    findingAddress(code),
  ];
  return { value: { code, severity, says, repair, fix, ...(example && { example }) }, text: parts.join('\n\n') };
}
