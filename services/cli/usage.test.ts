import { describe, expect, test } from 'vitest';
import type { Usage } from '#shared/interfaces/http/audit.ts';
import { noPaint } from './terminal.ts';
import { usageText } from './commands/usage.ts';

const looks = { width: 140, paint: noPaint };

describe('usage', () => {
  const total = {
    exportsStarted: 12,
    exportsReplayed: 1,
    exportsCompleted: 11,
    exportsFailed: 1,
    exportsCancelled: 0,
    pagesExported: 13_000,
    bundleBytes: 4_200_000,
    linksSigned: 4,
    publications: 2,
    pagesPublished: 2_000,
    publishedBytes: 900_000,
    questions: 1_500,
    tokens: 0,
  };
  const month: Usage = {
    organization: 'acme',
    months: [
      {
        month: '2026-03',
        total,
        days: [
          {
            day: '2026-03-01',
            figures: { exportsStarted: 8, exportsCompleted: 8, pagesExported: 9_000, linksSigned: 4, questions: 1_500 },
          },
          { day: '2026-03-02', figures: { exportsStarted: 4, exportsFailed: 1, publications: 2 } },
          { day: '2026-03-03', figures: { publications: 1 } },
        ],
      },
    ],
  };

  test('of a month goes by day, with bars and a line of sums', () => {
    const [title, head = '', first = '', second = '', third = '', sums = '', replays] = usageText(month, looks).split(
      '\n',
    );
    expect(title).toBe('acme, 2026-03');
    for (const line of [first, second, third, sums]) expect(line.length).toBeGreaterThanOrEqual(head.length);
    expect(first).toMatch(/^2026-03-01 +8 +8 +· +· +9,000 +· +4 +· +1,500 +· +━{24}$/);
    expect(second).toMatch(/^2026-03-02 +4 .* 2 +· +· +━{12}$/);
    expect(third).not.toContain('━');
    expect(sums).toMatch(/^in all +12 +11 +1 +· +13,000 +4.2 MB +4 +2 +1,500 +·$/);
    expect(replays).toBe('1 of the exports was a replay.');
  });

  test('of several goes by month, and marks figures that are no longer known', () => {
    const { linksSigned: _, questions: __, tokens: ___, ...old } = total;
    const text = usageText(
      { organization: 'acme', months: [{ month: '2025-01', total: old, days: [] }, ...month.months] },
      looks,
    );
    expect(text).toMatch(/^acme, 2025-01 to 2026-03\n/);
    expect(text).toMatch(/^2025-01 .* \? +2 +\? +\? +━{24}$/m);
    expect(text).toMatch(/^in all +24 .* \? +4 +\? +\?$/m);
    expect(text).toMatch(/^\?: links, questions and tokens are counted for as long as their records are kept\.$/m);
  });

  test('has no bars where there is no room', () => {
    expect(usageText(month, { ...looks, width: 80 })).not.toContain('━');
  });

  test('of nothing says so', () => {
    const figures = Object.fromEntries(Object.keys(total).map((name) => [name, 0]));
    expect(usageText({ organization: 'acme', months: [{ month: '2026-04', total: figures, days: [] }] }, looks)).toBe(
      'acme, 2026-04: nothing was used.',
    );
  });
});
