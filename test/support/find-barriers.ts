import axe from 'axe-core';
import type { Page } from 'playwright-core';

/**
 * Problems of a page that axe rates serious or critical, one sentence each, with at most three places for each rule. Style sheets are not fetched
 * again, because a page that was opened from a folder may not fetch files.
 */
export async function findBarriers(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return await page.evaluate<string[]>(barriers);
}

const barriers = `axe
  .run(document, { resultTypes: ['violations'], iframes: false, preload: false })
  .then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.slice(0, 3).map(({ target, failureSummary }) =>
      id + ' ' + target.join(' ') + ': ' + failureSummary.replace(/\\s+/g, ' ').slice(0, 300))))`;
