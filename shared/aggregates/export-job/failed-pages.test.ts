import { expect, test } from 'vitest';
import { failedPagesSentence, keepFailedPages } from './failed-pages.ts';

const page = (path: string, reason = 'too deep.') => ({ path, reason });

test('each failed page is kept once, with the start of its reason', () => {
  expect(keepFailedPages([page('a')], [page('a', 'again'), page('b')])).toEqual([page('a'), page('b')]);
  const [short, long] = keepFailedPages([], [page('a', 'r'.repeat(120)), page('b', 'r'.repeat(121))]);
  expect([short?.reason, long?.reason]).toEqual(['r'.repeat(120), `${'r'.repeat(119)}…`]);
  // The cut would separate the two halves of the last character.
  expect(keepFailedPages([], [page('a', `${'r'.repeat(118)}😀r`)])[0]?.reason).toBe(`${'r'.repeat(118)}\ufffd…`);
});

test('up to 50 pages and 1,100 bytes are kept', () => {
  const many = Array.from({ length: 60 }, (_, n) => ({ path: String(n), reason: '' }));
  const short = keepFailedPages([], many);
  expect(Buffer.byteLength(JSON.stringify(short))).toBeLessThanOrEqual(1_100);
  expect(short).toEqual(many.slice(0, short.length));
  expect(Buffer.byteLength(JSON.stringify(many.slice(0, short.length + 1)))).toBeGreaterThan(1_099);
  const tiny = Array.from({ length: 49 }, () => ({}) as ReturnType<typeof page>);
  expect(keepFailedPages(tiny, [page('a'), page('b')])).toHaveLength(50);
});

test('a sentence names the failed pages that fit, and counts the others', () => {
  expect(failedPagesSentence([page('a')], 1)).toBe('1 page could not be rendered: a (too deep).');
  expect(failedPagesSentence([page('a'), page('b', 'e.g. broken')], 2)).toBe(
    '2 pages could not be rendered: a (too deep), b (e.g. broken).',
  );
  expect(failedPagesSentence([page('a')], 3)).toBe(
    '3 pages could not be rendered: a (too deep) and 2 more, which the history of the job names.',
  );
  expect(failedPagesSentence([], 2)).toBe('2 pages could not be rendered; the history of the job names them.');
});

test('a sentence has 900 bytes, but at least one page', () => {
  const begin = '2 pages could not be rendered: a (too deep), ';
  const fits = page('é'.repeat((900 - begin.length - ' (too deep)'.length) >> 1));
  const sentence = failedPagesSentence([page('a'), fits], 2);
  expect(Buffer.byteLength(sentence)).toBeGreaterThan(899);
  expect(failedPagesSentence([page('a'), page(`${fits.path}éé`)], 2)).toBe(
    '2 pages could not be rendered: a (too deep) and 1 more, which the history of the job names.',
  );
  expect(failedPagesSentence([page('x'.repeat(2_000))], 1)).toContain('x (too deep).');
});
