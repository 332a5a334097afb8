import { basename, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { titleOfName } from '../bring-over/site-outline.ts';
import { defaultColour, type StarterAnswers } from './starter-project.ts';

export type GivenAnswers = { name?: string; color?: string; api?: boolean; yes: boolean };

/** A value for an answer that cannot be taken; the message says what can. */
class UnusableAnswer extends Error {
  override name = 'UnusableAnswer';
}

/**
 * The answers from flags, and on a terminal from questions for those that no flag gives. `yes` and other inputs take the defaults. Throws
 * `UnusableAnswer` for a colour that is none.
 */
export async function askAnswers(
  folder: string,
  given: GivenAnswers,
  terminal: { input: NodeJS.ReadableStream & { isTTY?: boolean }; output: NodeJS.WritableStream },
): Promise<StarterAnswers> {
  const defaults = { name: titleOfName(basename(resolve(folder))) || 'Documentation', color: defaultColour };
  const isAsking = !given.yes && terminal.input.isTTY === true;
  const lines = isAsking ? createInterface(terminal) : undefined;
  const ask = async (question: string, byDefault: string): Promise<string> =>
    (await lines?.question(`${question} (${byDefault}) `))?.trim() || byDefault;
  try {
    const name = given.name ?? (await ask('What is documented here?', defaults.name));
    let colour = colourIn(given.color ?? (await ask('Which colour, as #rrggbb?', defaults.color)));
    while (colour === undefined) {
      if (!isAsking || given.color !== undefined)
        throw new UnusableAnswer(`"${given.color}" is no colour. Give six digits, such as ${defaultColour}.`);
      colour = colourIn(await ask('A colour has six digits of 0 to 9 and a to f. Which one?', defaults.color));
    }
    const api = given.api ?? /^y/i.test(await ask('Does it have an HTTP API to describe, y or n?', 'n'));
    return { name, colour, api };
  } finally {
    lines?.close();
  }
}

/** `#rrggbb` from it, also without the hash or with three digits. */
function colourIn(text: string): string | undefined {
  const [, digits] = /^#?([\da-f]{6}|[\da-f]{3})$/i.exec(text.trim()) ?? [];
  if (digits === undefined) return undefined;
  return `#${(digits.length === 3 ? digits.replaceAll(/./g, '$&$&') : digits).toLowerCase()}`;
}
