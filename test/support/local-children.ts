import type { ChildPool } from '#shared/docs/sandbox/child-pool.ts';
import { fitting } from '#shared/docs/sandbox/child-messages.ts';

/** Children whose requests `handle` answers in this process. Its result is checked like the response of a child, and its errors are thrown to the caller. */
export function localChildren(handle: (request: unknown) => unknown): ChildPool {
  return {
    async run(request, { expects }) {
      const response = fitting(expects.schema, await handle(request), 'an answer');
      await expects.verify?.(response);
      return response;
    },
    drain: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
