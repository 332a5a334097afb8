import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe calls serious or critical on a page, a sentence each; three places of a rule at most. It loads no style sheet again, which a page in a folder may not do. */
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
