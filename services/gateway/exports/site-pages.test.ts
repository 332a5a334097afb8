import { expect, onTestFinished, test, vi } from 'vitest';
import { Unavailable } from '#shared/runtime/failures.ts';
import { hungCall } from '../../../test/support/hung-call.ts';
import { sitePages } from './site-pages.ts';

const content = (digit: string) => ({
  organization: 'acme',
  domain: 'docs',
  contentVersion: `cv_${digit.repeat(32)}`,
});

test('keeps as many page paths as there is room for, and reads the others again', async () => {
  const read: string[] = [];
  const pages = sitePages(
    {
      get: async (key) => {
        const version = /cv_(.)/.exec(key)?.[1] ?? '';
        read.push(version);
        const count = version === '3' ? 100 : 4;
        const paths = Array.from({ length: count }, (_, at) => ({ path: `${version}-${at}` }));
        return Buffer.from(JSON.stringify({ pages: paths }));
      },
    },
    1_000,
  );
  for (const version of '1231233') expect((await pages(content(version)))?.paths.has(`${version}-0`)).toBe(true);
  expect(read.join('')).toBe('12333');
});

test('a store that does not answer is a system that is down', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const pages = sitePages({ get: (_key, options) => hungCall(options) });
  await Promise.all([
    expect(pages(content('1'))).rejects.toBeInstanceOf(Unavailable),
    vi.advanceTimersByTimeAsync(60_000),
  ]);
});
