import { expect, test } from 'vitest';
import { z } from 'zod';
import { NewerMessage, Unavailable } from '#shared/runtime/failures.ts';
import { ApiError, toApiError } from './errors.ts';

test('an unexpected error reveals nothing', () => {
  const answer = toApiError(new Error('password is hunter2'));
  expect(answer.code).toBe('internal');
  expect(answer.message).not.toContain('hunter2');
  expect(toApiError(undefined).code).toBe('internal');
  // Stored data that does not match its schema is not an error of a request field.
  expect(toApiError(z.string().safeParse(1).error).code).toBe('internal');
});

test('a system that is down asks for another try later', () => {
  const error = new Unavailable('gone');
  expect(toApiError(error)).toMatchObject({ code: 'unavailable', retryAfterSeconds: 5 });
});

test('data of a newer version asks for another try, and its error reveals nothing', () => {
  const answer = toApiError(new NewerMessage('message 7 on threads.acme.docs.x has an event that is not known.'));
  expect(answer).toMatchObject({ code: 'unavailable', status: 503, retryAfterSeconds: 60 });
  expect(answer.message).not.toContain('acme');
});

test('an error of the public interface stays unchanged', () => {
  const error = new ApiError('not_found', 'No such job.');
  expect(toApiError(error)).toBe(error);
});
