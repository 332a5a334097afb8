import type { z } from 'zod';
import { ApiError, type FieldProblem } from './errors.ts';
import { guessAmong, longestCompared, problemText } from '#shared/runtime/problem-text.ts';

/** The part of a request that contains a value, for error messages. */
export type RequestPart = 'body' | 'query' | 'headers';

const partNames = {
  body: { whole: 'The body', field: 'The field' },
  query: { whole: 'The query', field: 'The parameter' },
  headers: { whole: 'The headers', field: 'The header' },
} as const;

const mostFields = 20;

/** Parses a value with its schema. Throws `invalid_request` with the problem of each wrong field and the expected value. */
export function parseRequest<T>(schema: z.ZodType<T>, value: unknown, part: RequestPart): T {
  /** Known fields of each object with unknown fields, by its path. */
  const known = new Map<string, readonly string[]>();
  const error = (issue: z.core.$ZodRawIssue): string => {
    if (issue.code === 'unrecognized_keys') known.set(pathOf(issue), fieldsOf(issue));
    return problemText(issue);
  };
  const result = schema.safeParse(value, { error });
  if (result.success) return result.data;
  const { issues } = result.error;
  const fields = issues
    .filter(
      (issue) => !isBeyondWhole(issue) || issues.every((other) => other === issue || pathOf(other) !== pathOf(issue)),
    )
    .slice(0, mostFields)
    .flatMap((issue) => problemsOf(issue, known.get(pathOf(issue))))
    .slice(0, mostFields);
  const [first, ...others] = fields.map(({ path, message }) => ({ path: path === '' ? part : path, message }));
  if (first === undefined) throw new ApiError('invalid_request');
  const { whole, field } = partNames[part];
  const name = fields[0]?.path === '' ? whole : `${field} "${first.path}"`;
  const more =
    others.length === 0 ? '' : ` ${others.length} more ${others.length === 1 ? 'is' : 'are'} wrong, see "fields".`;
  throw new ApiError('invalid_request', `${name} ${first.message}.${more}`, {
    fields: [first, ...others],
    cause: result.error,
  });
}

/** True for the issue that a number is too large for a safe integer. A bound of the schema is more specific. */
const isBeyondWhole = (issue: z.core.$ZodIssue): boolean =>
  issue.code === 'too_big' && issue.maximum === Number.MAX_SAFE_INTEGER;

const pathOf = ({ path = [] }: { path?: readonly PropertyKey[] | undefined }): string => path.map(String).join('.');

const fieldsOf = ({ inst }: z.core.$ZodRawIssue): string[] =>
  Object.keys((inst?._zod.def as { shape?: object } | undefined)?.shape ?? {});

/** Unknown fields are one issue of their object, and become one problem each. */
function problemsOf(issue: z.core.$ZodIssue, known: readonly string[] = []): FieldProblem[] {
  const path = pathOf(issue);
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
  // The number of reported fields is limited, because guessing the intended name takes time, and a body may have a hundred thousand unknown fields.
  return issue.keys.slice(0, mostFields).map((key) => {
    const name = key.slice(0, longestCompared);
    return { path: path === '' ? name : `${path}.${name}`, message: `is not known here${guessAmong(key, known)}` };
  });
}
