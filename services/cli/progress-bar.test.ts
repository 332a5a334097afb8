import { expect, test } from 'vitest';
import { drawBar } from './progress-bar.ts';

test('the bar is as long at every progress, also outside 0 to 100', () => {
  const lengths = [0, 12.34, 50, 100].map((progress) => drawBar(progress, '').length);
  expect(new Set(lengths).size).toBe(1);
  expect(drawBar(150, 'x')).toContain('━'.repeat(30));
  expect(drawBar(-1, 'x')).not.toContain('━');
});
