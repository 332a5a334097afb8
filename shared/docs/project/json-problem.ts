/** Matches white space, a string, a number or word, or one other character. A string that does not end in its line has no closing quote. */
const token = /[ \t\r\n]+|"(?:[^"\\\n]|\\[^\n])*"?|[-+.\w$]+|[^]/y;
const value = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)$/;
const closing: Readonly<Record<string, string>> = { '{': '}', '[': ']' };

/**
 * The first problem of a text that is not JSON, with its place and its solution, for authors: `line 3, column 9: remove the comma before "}"`.
 * Undefined if it is not a common problem. Takes time in proportion to the text. Pure.
 */
export function jsonProblem(text: string): string | undefined {
  const open: { bracket: string; at: number }[] = [];
  let before = '';
  let beforeAt = 0;
  let isAfterName = false;
  const problem = (at: number, what: string): string => `${placeIn(text, at)}: ${what}`;
  token.lastIndex = 0;
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [found] = match;
    const at = match.index;
    if (/^\s/.test(found)) continue;
    const isText = found.startsWith('"');
    if (isText && (found.length === 1 || !found.endsWith('"')))
      return problem(at, 'the text that begins here does not end in its line. Close it with a quote');
    if (found === "'") return problem(at, 'write names and texts in double quotes');
    if (found === '/' || found === '#') return problem(at, 'remove the comment. JSON has none');
    const isValue = isText || found === '{' || found === '[' || /^[-+.\w$]/.test(found);
    if (isValue && !isText && /^[-+.\w$]/.test(found) && !value.test(found))
      return problem(at, `put ${JSON.stringify(found.slice(0, 40))} into double quotes, or correct it`);
    const endsValue = /["\w}\]]$/.test(before);
    if (isValue && endsValue) return problem(at, `a ${isAfterName ? 'colon' : 'comma'} is missing before this`);
    const innermost = open.at(-1);
    isAfterName = isText && innermost?.bracket === '{' && /^[{,]$/.test(before);
    if (found === '}' || found === ']') {
      if (before === ',') return problem(beforeAt, `remove the comma before "${found}"`);
      if (innermost === undefined) return problem(at, `there is a "${found}" too many. Remove it`);
      if (closing[innermost.bracket] !== found)
        return problem(
          at,
          `this closes "${innermost.bracket}" of ${placeIn(text, innermost.at)}. Write "${closing[innermost.bracket]}"`,
        );
      open.pop();
    } else if (found === '{' || found === '[') open.push({ bracket: found, at });
    before = found;
    beforeAt = at;
  }
  const unclosed = open.at(-1);
  if (text.trim() === '') return 'the file is empty';
  return (
    unclosed &&
    problem(unclosed.at, `the "${unclosed.bracket}" here is never closed. Add "${closing[unclosed.bracket]}"`)
  );
}

function placeIn(text: string, at: number): string {
  const above = text.slice(0, at).split('\n');
  return `line ${above.length}, column ${(above.at(-1) ?? '').length + 1}`;
}
