import { expect, test } from 'vitest';
import { docsHosts } from '../support/docs-host.ts';
import { swapUnderLoad } from '../support/docs-host-load.ts';

const { folder } = docsHosts();
const minuteMs = 60_000;
const swaps = 1_000;

test(`${swaps} changes of version under load: every answer is whole, and no page has files of two versions`, {
  timeout: 10 * minuteMs,
}, async () => {
  const { problems, visits, lastVersion } = await swapUnderLoad(folder(), swaps);
  process.stdout.write(`${swaps} changes of version, ${visits} pages with their files\n`);
  expect([problems, lastVersion]).toEqual([[], `cv_v${swaps}-`]);
  expect(visits).toBeGreaterThan(swaps);
});
