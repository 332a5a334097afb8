import type { z } from 'zod';
import { editDistance } from './edit-distance.ts';

/**
 * The first problem of a value that a schema refused, with the field in quotes: `"files.0.size" must be a number, not text`. `whole` is the subject when
 * the value itself is wrong. The value was parsed with `problemText`. Pure.
 */
export function firstProblem({ issues: [issue] }: z.core.$ZodError, whole: string): string {
  const path = issue === undefined ? '' : issue.path.map(String).join('.');
  return `${path === '' ? whole : JSON.stringify(path)} ${issue?.message ?? 'is not allowed'}`;
}

/**
 * The problem with a value, as the end of a sentence that starts with its name: `must be text, not a number`. For all issues without a message in the
 * schema; `safeParse` takes this function as `error`. Pure.
 */
export function problemText(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined && issue.code !== 'custom' && issue.code !== 'unrecognized_keys') return missing(issue);
  switch (issue.code) {
    case 'invalid_type':
      return mustBe(nouns[issue.expected] ?? issue.expected, issue.input);
    case 'invalid_value': {
      const wanted = issue.values.map((value) => JSON.stringify(value));
      const guess = typeof issue.input === 'string' ? guessAmong(issue.input, issue.values.map(String)) : '';
      return `must be ${oneOf(wanted)}, not ${shown(issue.input)}${guess}`;
    }
    case 'too_small':
      return sizeText(issue.origin, Number(issue.minimum), issue.inclusive === false ? 'more than' : 'at least');
    case 'too_big':
      return sizeText(issue.origin, Number(issue.maximum), issue.inclusive === false ? 'less than' : 'at most');
    case 'invalid_format':
      return formats[issue.format] ?? 'has a form that is not allowed';
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_union':
      return unionText(issue);
    case 'unrecognized_keys':
      return `has fields that are not known: ${issue.keys.join(', ')}`;
    default:
      return 'is not allowed';
  }
}

/** Types of zod, in words. */
const nouns: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'an object',
  record: 'an object',
};

const formats: Readonly<Record<string, string>> = {
  datetime: 'must be a time such as 2026-03-01T10:00:00Z',
  date: 'must be a date such as 2026-03-01',
  url: 'must be an address such as https://docs.acme.com',
  safeint: 'must be a whole number',
};

function missing(issue: z.core.$ZodRawIssue): string {
  if (issue.code === 'invalid_value')
    return `is missing: send ${oneOf(issue.values.map((value) => JSON.stringify(value)))}`;
  return 'is missing';
}

function mustBe(noun: string, input: unknown): string {
  // Parameters arrive as text, and a text that is not a number becomes NaN during parsing.
  return Number.isNaN(input) || (typeof input === 'number' && noun === nouns.int)
    ? `must be ${noun}`
    : `must be ${noun}, not ${kindOf(input)}`;
}

function kindOf(input: unknown): string {
  if (input === null) return 'null';
  if (Array.isArray(input)) return 'a list';
  return typeof input === 'boolean' ? String(input) : (nouns[typeof input] ?? 'this');
}

const mostShown = 40;

const shown = (input: unknown): string =>
  typeof input !== 'string'
    ? kindOf(input)
    : JSON.stringify(input.length > mostShown ? `${input.slice(0, mostShown)}…` : input);

const oneOf = (options: readonly string[]): string =>
  options.length < 2 ? (options[0] ?? 'nothing') : `${options.slice(0, -1).join(', ')} or ${options.at(-1)}`;

function sizeText(origin: string, size: number, bound: 'at least' | 'at most' | 'more than' | 'less than'): string {
  if (origin === 'string') {
    if (bound === 'at least' && size === 1) return 'must not be empty';
    return `must have ${bound} ${size} ${size === 1 ? 'character' : 'characters'}`;
  }
  if (origin === 'array' || origin === 'set') {
    if (bound === 'at least' && size === 1) return 'must not be an empty list';
    return `must have ${bound} ${size} ${size === 1 ? 'entry' : 'entries'}`;
  }
  return `must be ${bound} ${size}`;
}

/** The problem with a union: the expected values of its forms, or of the field that distinguishes them. */
function unionText(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string {
  const texts = [...new Set(issue.errors.flatMap(([first]) => (first === undefined ? [] : [first.message])))];
  if (texts.length === 0) {
    const { options = [] } = issue as { options?: readonly unknown[] };
    return `must be ${oneOf(options.map((option) => JSON.stringify(option)))}`;
  }
  const [first = '', ...others] = texts;
  return [first, ...others.map((text) => text.replace(/^must be /, ''))].join(', or ');
}

/** The end of a sentence about an unknown name with the known name that was probably meant, or ''. Pure. */
export function guessAmong(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  return meant === undefined ? '' : `; did you mean "${meant}"`;
}

/** The known name that differs by the fewest letters, if they are few. */
function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > longestCompared) return undefined;
  const wanted = name.toLowerCase().replaceAll(/[-_ ]/g, '');
  const most = Math.max(1, Math.floor(wanted.length / 3));
  return known
    .map((candidate) => ({
      candidate,
      letters: editDistance(wanted, candidate.toLowerCase().replaceAll(/[-_ ]/g, ''), most),
    }))
    .filter(({ letters }) => letters <= most)
    .sort((a, b) => a.letters - b.letters)[0]?.candidate;
}

/** Names of more letters are not compared, because that takes time. */
export const longestCompared = 60;
