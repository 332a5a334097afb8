import { expect, test } from 'vitest';
import { rendererVersion } from './renderer-version.ts';

test('the renderer version is one token and stays the same while nothing changes', async () => {
  expect(await rendererVersion()).toMatch(/^r-[0-9a-f]{12}$/);
  expect(await rendererVersion()).toBe(await rendererVersion());
});
