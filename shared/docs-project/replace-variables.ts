import { inlineCodeSpans, inSpan } from './inline-code-spans.ts';

const variable = /\{\{[ \t]*([A-Za-z0-9_-]{1,100})[ \t]*\}\}/g;

export type ReplacedLine = { line: string; undefinedNames: string[] };

/**
 * Puts the values of `variables` where a line says `{{name}}`, in code as in text. A name without a value stays as it is in code (where it
 * is nearly always another language's template) and in attributes (where it may be an object); in text it is escaped, so that it
 * reads as written, and reported.
 */
export function replaceVariables(line: string, fenced: boolean, variables: ReadonlyMap<string, string>): ReplacedLine {
  const undefinedNames: string[] = [];
  if (!line.includes('{{')) return { line, undefinedNames };
  const spans = fenced ? [] : inlineCodeSpans(line);
  const replaced = line.replaceAll(variable, (written: string, name: string, offset: number) => {
    const value = variables.get(name);
    if (value !== undefined) return value;
    if (fenced || inSpan(spans, offset) || inAttribute(line.slice(Math.max(0, offset - 500), offset))) return written;
    undefinedNames.push(name);
    return `\\{\\{${name}\\}\\}`;
  });
  return { line: replaced, undefinedNames };
}

/** `style={{color}}`, `${{name}}`, `{{{name}}}` and `title="… {{name}} …"`. */
const inAttribute = (before: string): boolean => /[={$\\]$/.test(before) || /=\s*(?:"[^"]*|'[^']*)$/.test(before);
