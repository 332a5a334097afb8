import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { ApiError } from '#shared/http/errors.ts';
import { parseRequest, type RequestPart } from '#shared/http/field-problems.ts';

/** Parses a query, headers or a JSON body by its schema; throws `invalid_request` that names the fields. */
export function parseInput<T>(schema: z.ZodType<T>, input: unknown, part: RequestPart = 'body'): T {
  const isAbsent = part === 'body' && (input === undefined || input === null);
  if (isAbsent && !schema.safeParse(undefined).success) {
    throw new ApiError('invalid_request', 'This request needs a JSON body.', {
      fields: [{ path: 'body', message: 'is missing' }],
    });
  }
  return parseRequest(schema, input ?? undefined, part);
}

/**
 * Parses the parameters of a path. A text that cannot be an id names nothing and must not get into a subject or key, so it throws `not_found`. The
 * title of a parameter's schema names the kind of id.
 */
export function parsePathParameters(schema: z.ZodObject, given: unknown): Record<string, unknown> {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const name = String(result.error.issues[0]?.path[0]);
  const title = (schema.shape[name] as z.ZodType | undefined)?.meta()?.title ?? name;
  throw noSuch(title, String((given as Record<string, unknown>)[name]));
}

export const noSuch = (title: string, id: string): ApiError =>
  new ApiError('not_found', `There is no ${title} "${id.slice(0, 100)}" here.`);

/** An error about one parameter of the query. `message` continues the sentence after its name. */
export const invalidParameter = (name: string, message: string): ApiError =>
  new ApiError('invalid_request', `The parameter "${name}" ${message}.`, { fields: [{ path: name, message }] });

/** The start of the next page of a list, as clients get it. */
export const toCursor = (position: string): string => Buffer.from(position).toString('base64url');

/** The content of a cursor, matched by `pattern`. Throws `invalid_request` for an invalid one. Pure. */
export function readCursor(cursor: string, pattern: RegExp): RegExpExecArray {
  const match = pattern.exec(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (match === null) throw wrongCursor();
  return match;
}

export const wrongCursor = (): ApiError => invalidParameter('cursor', 'must be the "nextCursor" of an earlier answer');

/** True if the header `Accept` names a type; wildcards do not count, because plain JSON is the answer to them. */
export function accepts(request: Pick<FastifyRequest, 'headers'>, type: string): boolean {
  return (request.headers.accept ?? '').split(',').some((part) => part.split(';')[0]?.trim().toLowerCase() === type);
}
