import { expect, onTestFinished, test, vi } from 'vitest';
import { siteModelKey } from '#shared/contracts/stored-objects.ts';
import { Unavailable } from '#shared/runtime/failures.ts';
import { DamagedObject } from '#shared/storage/object-store.ts';
import { hungCall } from '../../test/support/hung-call.ts';
import { siteModel } from '../../test/support/site-model.ts';
import { openStoredContent } from './stored-content.ts';

const scope = { organization: 'acme', domain: 'docs', contentVersion: `cv_${'1'.repeat(32)}` };

// The indexer counts other errors, and makes a publication that fails too often a dead letter.
test('a store that does not answer is a system that is down, and the publication waits for it', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const store = { get: (_key: string, options?: { signal?: AbortSignal }) => hungCall(options) };
  const opened = openStoredContent(store, scope, new AbortController().signal);
  await Promise.all([expect(opened).rejects.toBeInstanceOf(Unavailable), vi.advanceTimersByTimeAsync(30_000)]);
});

test('a page is not read from other bytes than those that were published', async () => {
  const model = siteModel([{ path: 'a' }]);
  const { signal } = new AbortController();
  const get = async (key: string): Promise<Uint8Array> =>
    Buffer.from(key === siteModelKey(scope) ? JSON.stringify(model) : '<html>502 Bad Gateway</html>');
  const content = await openStoredContent({ get }, scope, signal);
  const file = { path: 'a.mdx', sha256: model.pages[0]?.sha256 ?? '' };
  await expect(content.source(file, signal)).rejects.toThrow(DamagedObject);
  await expect(content.text(file, signal)).rejects.toThrow(DamagedObject);
});
