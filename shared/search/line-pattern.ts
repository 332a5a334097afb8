import { messageOf } from '#shared/runtime/failures.ts';

/** True for a line that matches. Takes time in proportion to the line, whatever the pattern. */
export type LinePattern = (line: string) => boolean;

/** The pattern cannot be searched; the message is a sentence for the person who wrote it. */
export class PatternRefused extends Error {
  override name = 'PatternRefused';
}

export const longestPattern = 300;
/** Number of instructions of a compiled expression. All of them may be tried at each character. Usual expressions have under a hundred. */
const mostInstructions = 1_000;
/** The part of a line that is compared. */
const comparedCharacters = 4_000;

/**
 * A pattern for lines: plain text, or a regular expression in the syntax of RE2, which has no look-around and no back references, and therefore no
 * expression that takes exponential time. Throws `PatternRefused`.
 */
export async function linePattern(
  text: string,
  { isExpression, isCaseSensitive }: { isExpression: boolean; isCaseSensitive: boolean },
): Promise<LinePattern> {
  if (text === '') throw new PatternRefused('The pattern is empty.');
  if (text.length > longestPattern)
    throw new PatternRefused(`The pattern has more than ${longestPattern} characters. Search for a shorter one.`);
  if (/[\r\n]/.test(text))
    throw new PatternRefused('The pattern has a line break, but lines are compared one by one. Search for one line.');
  return isExpression ? await expression(text, isCaseSensitive) : plainText(text, isCaseSensitive);
}

function plainText(text: string, isCaseSensitive: boolean): LinePattern {
  if (isCaseSensitive) return (line) => line.includes(text);
  const wanted = text.toLowerCase();
  return (line) => line.toLowerCase().includes(wanted);
}

async function expression(text: string, isCaseSensitive: boolean): Promise<LinePattern> {
  // The package is loaded at the first expression, because most processes never get one.
  const { RE2JS } = await import('re2js');
  let compiled: InstanceType<typeof RE2JS>;
  try {
    compiled = RE2JS.compile(text, isCaseSensitive ? 0 : RE2JS.CASE_INSENSITIVE);
  } catch (error) {
    const why = messageOf(error).replace(/^error parsing regexp: /, '');
    throw new PatternRefused(
      `The regular expression cannot be read: ${why.slice(0, 200)}. The syntax is that of RE2, without look-around and back references.`,
      { cause: error },
    );
  }
  if (compiled.programSize() > mostInstructions)
    throw new PatternRefused('The regular expression is too large: its repetitions multiply. Use smaller ones.');
  return (line) => compiled.test(line.length <= comparedCharacters ? line : line.slice(0, comparedCharacters));
}
