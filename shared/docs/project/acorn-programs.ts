import { Parser, type Options as AcornOptions, tokTypes } from 'acorn';
import jsx from 'acorn-jsx';
import type { Expression, Program } from 'estree';
import type { Point } from 'unist';

const options: AcornOptions = { ecmaVersion: 2024, sourceType: 'module', locations: true };

/** Members of acorn's parser that are meant for plugins and missing from its types. */
type OpenParser = {
  curLine: number;
  lineStart: number;
  type: unknown;
  end: number;
  nextToken(): void;
  parseExpression(): Expression;
  parse(): Program;
};
const ExtendedParser = Parser.extend(jsx());
const JsxParser = ExtendedParser as unknown as new (options: AcornOptions, text: string) => OpenParser;

/** A parser whose lines and columns are counted from `start`. */
function parserAt(text: string, start: Point | undefined): OpenParser {
  const parser = new JsxParser(options, text);
  parser.curLine = start?.line ?? 1;
  parser.lineStart = 1 - (start?.column ?? 1);
  return parser;
}

/** Parses an expression into a program of one statement, or of none if there are only comments. */
export function expressionProgram(text: string, start: Point | undefined): Program {
  const parser = parserAt(text, start);
  parser.nextToken();
  const body: Program['body'] = [];
  if (parser.type !== tokTypes.eof) body.push({ type: 'ExpressionStatement', expression: parser.parseExpression() });
  if (parser.type !== tokTypes.eof) throw new SyntaxError('there is text after the expression');
  return { type: 'Program', sourceType: 'module', body };
}

/** Parses the expression of an attribute, which must have a value. */
export function valueProgram(text: string, start: Point | undefined): Program {
  const program = expressionProgram(text, start);
  if (program.body.length === 0) throw new SyntaxError('there is no expression');
  return program;
}

/** Parses `{...props}` into an object with one spread. */
export function spreadProgram(text: string, start: Point | undefined): Program {
  const program = valueProgram(`({${text}})`, start);
  const [statement] = program.body;
  const object = statement?.type === 'ExpressionStatement' ? statement.expression : undefined;
  const isSpread = object?.type === 'ObjectExpression' && object.properties.length === 1;
  if (!isSpread || object.properties[0]?.type !== 'SpreadElement')
    throw new SyntaxError('only a spread is allowed there');
  return program;
}

/** Parses imports and exports. Throws `SyntaxError` for any other statement. */
export function moduleProgram(text: string, start: Point | undefined): Program {
  const program = parserAt(text, start).parse();
  const other = program.body.find(({ type }) => !/^(Import|Export)/.test(type));
  if (other) throw new SyntaxError('only imports and exports are allowed there');
  return program;
}

/**
 * Returns the length of the expression at the start of `text`, including its braces, or the problem with it. Time grows with the expression, not with
 * the text after it.
 */
export function readExpression(text: string): { length: number } | { problem: string } {
  try {
    const parser = parserAt(text.slice(1), undefined);
    parser.nextToken();
    if (parser.type === tokTypes.ellipsis) parser.nextToken();
    if (parser.type !== tokTypes.braceR) parser.parseExpression();
    if (parser.type === tokTypes.braceR) return { length: parser.end + 1 };
    return { problem: parser.type === tokTypes.eof ? 'It is never closed' : 'There is text after the expression' };
  } catch (error) {
    if (error instanceof SyntaxError) return { problem: error.message.replace(/ \(\d+:\d+\)$/, '') };
    throw error;
  }
}

/**
 * Micromark reads `pos` of a syntax error and continues. The getter `pos` of this error throws the error, which ends the reading of the expression.
 */
class TooMuchJavaScript extends SyntaxError {
  readonly reason = 'the expressions of the page are too long';

  get pos(): number {
    throw this;
  }
}

/** Limit of nodes times lines in the expressions of a page. */
const mostPlacesByLines = 400_000_000;

/**
 * Acorn for micromark, which calls it at each closing brace with all text before the brace, so a small text could take minutes. This parser refuses
 * expressions once a text has needed more work than real texts do. Micromark also searches all lines of an expression for the place of each node and
 * comment. So it gets no comments, which nothing reads, and nodes times lines are limited.
 */
export function boundedAcorn(text: string): typeof Parser {
  let left = Math.min(20 * text.length + 1_000_000, 20_000_000);
  let placesByLines = mostPlacesByLines;
  const refuse = (): never => {
    throw new TooMuchJavaScript('the expressions of the page are too long');
  };
  const spend = (characters: number): void => {
    left -= characters;
    if (left < 0) refuse();
  };
  const bounded = <Tree>(code: string, parse: () => Tree): Tree => {
    spend(code.length);
    const tree = parse();
    const lines = code.split('\n').length;
    if (lines > 100) placesByLines -= lines * nodesOf(tree);
    if (placesByLines < 0) refuse();
    return tree;
  };
  const acorn: Pick<typeof Parser, 'parse' | 'parseExpressionAt'> = {
    parse: (code, settings) => bounded(code, () => ExtendedParser.parse(code, withoutComments(settings))),
    parseExpressionAt: (code, at, settings) =>
      bounded(code, () => ExtendedParser.parseExpressionAt(code, at, withoutComments(settings))),
  };
  return acorn as typeof Parser;
}

const withoutComments = ({ onComment: _, ...settings }: AcornOptions): AcornOptions => settings;

function nodesOf(tree: unknown): number {
  let count = 0;
  const pending = [tree];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== 'object' || value === null) continue;
    if ('type' in value) count += 1;
    for (const inner of Object.values(value)) if (typeof inner === 'object') pending.push(inner);
  }
  return count;
}
