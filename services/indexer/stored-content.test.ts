import { expect, onTestFinished, test, vi } from 'vitest';
import { Unavailable } from '#shared/runtime/failures.ts';
import { hungCall } from '../../test/support/hung-call.ts';
import { openStoredContent } from './stored-content.ts';

const scope = { organization: 'acme', domain: 'docs', contentVersion: `cv_${'1'.repeat(32)}` };

// Other errors are counted, and a publication that fails too often is set aside.
test('a store that does not answer is a system that is down, and the publication waits for it', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const store = { get: (_key: string, options?: { signal?: AbortSignal }) => hungCall(options) };
  const opened = openStoredContent(store, scope, new AbortController().signal);
  await Promise.all([expect(opened).rejects.toBeInstanceOf(Unavailable), vi.advanceTimersByTimeAsync(30_000)]);
});
