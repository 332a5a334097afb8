import { type AST, RegExpParser } from '@eslint-community/regexpp';

const longestPattern = 300;
const longestText = 200;
const maxElements = 2_000;

type Known = { expression: RegExp; tree: AST.Pattern; isSafe: boolean };

const parser = new RegExpParser({ ecmaVersion: 2024 });
const known = new Map<string, Known | undefined>();

function patternOf(source: string): Known | undefined {
  if (source.length > longestPattern) return undefined;
  if (known.has(source)) return known.get(source);
  if (known.size > 5_000) known.clear();
  let found: Known | undefined;
  try {
    const tree = parser.parsePattern(source, undefined, undefined, { unicode: true });
    found = { expression: new RegExp(source, 'u'), tree, isSafe: isSafe(tree.alternatives) };
  } catch {
    // The expression is invalid, or in the syntax of another language.
  }
  known.set(source, found);
  return found;
}

/** True if a text matches a pattern of a schema; undefined if that cannot be determined, or could take too long. */
export function isLikePattern(text: string, source: string): boolean | undefined {
  const pattern = patternOf(source);
  if (pattern === undefined) return undefined;
  return pattern.isSafe || text.length <= 20 ? pattern.expression.test(text) : undefined;
}

/** A text that a pattern of a schema allows, of the given length; undefined if none was found. The same pattern gives the same text. */
export function textForPattern(source: string, least = 0, most = longestText): string | undefined {
  const pattern = patternOf(source);
  if (pattern === undefined) return undefined;
  for (const more of [0, 1, 2, 4, 8, 16, least - 2, least - 1, least]) {
    const text = new Writer(more).alternatives(pattern.tree.alternatives);
    if (text === undefined || text.length > longestText) continue;
    const padded = text.length < least && !/\$\)?$/.test(source) ? text.padEnd(least, 'a') : text;
    if (padded.length >= least && padded.length <= most && isLikePattern(padded, source) === true) return padded;
  }
  return undefined;
}

/** False for an expression that repeats a repetition or a choice, which may take exponential time. */
function isSafe(alternatives: readonly AST.Alternative[], isRepeated = false): boolean {
  return alternatives.every(({ elements }) =>
    elements.every((element) => {
      if (element.type === 'Backreference') return false;
      if (element.type === 'Quantifier') {
        const repeats = element.max > 10;
        if (repeats && isRepeated) return false;
        const { element: inner } = element;
        return 'alternatives' in inner
          ? (!(repeats && inner.alternatives.length > 1) ||
              inner.alternatives.every(({ elements }) => elements.length === 1)) &&
              isSafe(inner.alternatives, isRepeated || repeats)
          : true;
      }
      return !('alternatives' in element) || isSafe(element.alternatives, isRepeated);
    }),
  );
}

const preferred = 'a1A-_. @/:+0b2cB#xyz9';

/** Writes the shortest text that an expression matches, with a number of additional repetitions. */
class Writer {
  readonly #more: number;
  #left = maxElements;

  constructor(more: number) {
    this.#more = more;
  }

  alternatives([first]: readonly AST.Alternative[]): string | undefined {
    let text = '';
    for (const element of first?.elements ?? []) {
      const part = this.#element(element);
      if (part === undefined) return undefined;
      text += part;
    }
    return text;
  }

  #element(element: AST.Element): string | undefined {
    this.#left -= 1;
    if (this.#left < 0) return undefined;
    switch (element.type) {
      case 'Character':
        return String.fromCodePoint(element.value);
      case 'CharacterSet':
      case 'CharacterClass':
        return characterOf(element.raw);
      case 'Group':
      case 'CapturingGroup':
        return this.alternatives(element.alternatives);
      case 'Quantifier': {
        const count = Math.min(element.max, Math.max(element.min, element.min + Math.max(0, this.#more)), longestText);
        const part = count === 0 ? '' : this.#element(element.element);
        return part === undefined || part.length * count > longestText * 2 ? undefined : part.repeat(count);
      }
      // Assertions are checked when the whole text is tried.
      case 'Assertion':
        return '';
      default:
        return undefined;
    }
  }
}

/** A character that a class such as `[A-Z]` or `\d` matches. */
function characterOf(raw: string): string | undefined {
  const one = new RegExp(`^${raw}$`, 'u');
  for (const character of preferred) if (one.test(character)) return character;
  for (let code = 0x21; code < 0x3000; code += 1)
    if (one.test(String.fromCodePoint(code))) return String.fromCodePoint(code);
  return undefined;
}
