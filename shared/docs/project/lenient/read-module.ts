import type { Program } from 'estree';
import type { Point } from 'unist';
import { messageOf } from '#shared/runtime/failures.ts';
import { moduleProgram } from '../acorn-programs.ts';
import type { Repairs } from './repairs.ts';

/** Lines that were read as a module. `end` is the offset after the last one. If `program` is absent, the lines are left out of the page. */
type ReadModule = { end: number; program?: Program };

/** Matches the start of code. A paragraph that only begins with the word "import" does not match. */
const isCode =
  /^(?:import\s+(?:["']|[\w{*$].*\bfrom\s*["'])|import\s*\{|export\s+(?:default\b|const\s+[\w{[$]|let\s+[\w{[$]|var\s+[\w{[$]|(?:async\s+)?function\b|class\s+\w|\{|\*\s*from))/;
const mostLines = 2_000;

/**
 * Reads the imports and exports at `start`, the beginning of a line. Text directly after them is not part of them. Code that is not JavaScript is
 * left out, up to the line where its brackets are closed. Undefined if the line is text.
 */
export function readModule(repairs: Repairs, start: Point): ReadModule | undefined {
  const { text } = repairs;
  const { offset = 0 } = start;
  if (!/^(?:import|export) /.test(text.slice(offset, offset + 7))) return undefined;
  let problem: unknown;
  for (let end = endOfBlock(text, offset), blocks = 0; blocks < 50; end = endOfBlock(text, end), blocks += 1) {
    const code = text.slice(offset, end);
    repairs.spend(code.length);
    const read = parsed(code, start);
    if ('program' in read) return { end, program: read.program };
    problem ??= read.problem;
    const lines = linesBefore(code, read.problem);
    const shorter = lines > 0 ? firstLines(code, lines) : '';
    const program = shorter === '' ? undefined : parsed(shorter, start);
    if (program !== undefined && 'program' in program)
      return { end: offset + shorter.length, program: program.program };
    // More lines can help only if the problem is at the end of the code so far.
    const isOpen = lines >= code.split('\n').length - 1 || messageOf(read.problem).startsWith('Unterminated');
    if (!isOpen || end >= text.length) break;
  }
  const head = text.slice(offset, offset + 500);
  const why = messageOf(problem).replace(/ \(\d+:\d+\)$/, '');
  if (!isCode.test(head)) {
    repairs.note(
      start,
      `This line begins with "${head.slice(0, 6)}" and is not JavaScript (${why}), so it is shown as text. Let the line begin with another word, or put the code in backticks.`,
    );
    return undefined;
  }
  repairs.note(start, `This ${head.slice(0, 6)} cannot be read (${why.slice(0, 120)}) and is left out. Correct it.`);
  return { end: offset + balanced(text.slice(offset, offset + 100_000)) };
}

function parsed(code: string, start: Point): { program: Program } | { problem: unknown } {
  try {
    return { program: moduleProgram(code, start) };
  } catch (problem) {
    if (problem instanceof RangeError) throw problem;
    return { problem };
  }
}

/** Number of whole lines before the position of acorn's error. */
function linesBefore(code: string, problem: unknown): number {
  const { pos = 0 } = problem as { pos?: number };
  return code.slice(0, pos).split('\n').length - 1;
}

const firstLines = (code: string, count: number): string => code.split('\n').slice(0, count).join('\n');

/** End of the block that contains `from`: the offset after the last line before the next empty line. */
function endOfBlock(text: string, from: number): number {
  const start = /\S/.exec(text.slice(from))?.index ?? 0;
  const empty = /\n[ \t]*(?=\n|$)/.exec(text.slice(from + start))?.index;
  return empty === undefined ? text.length : from + start + empty;
}

/** Length of the lines up to the one where all brackets are closed; up to the first empty line if they never are. */
function balanced(code: string): number {
  let [depth, length, firstBlock] = [0, 0, 0];
  for (const line of code.split('\n').slice(0, mostLines)) {
    if (line.trim() === '' && firstBlock === 0) firstBlock = length - 1;
    length += line.length + 1;
    depth += line.replaceAll(/[^({[]/g, '').length - line.replaceAll(/[^)}\]]/g, '').length;
    if (depth <= 0) return Math.min(length - 1, code.length);
  }
  return firstBlock > 0 ? firstBlock : code.length;
}
