import { expect, test } from 'vitest';
import { sourceOf } from './domain-parts.ts';

test('a source is its branch, pull request and commit, each as text', () => {
  const commit = '0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c';
  const { text } = sourceOf({ commit, branch: '"><script>alert(1)</script>', pullRequest: 12 });
  expect(text).toContain('&lt;script&gt;alert(1)');
  expect(text).not.toContain('<script>');
  expect(text).toContain('#12');
  expect(text).toContain(`<code title="${commit}">0f1e2d3</code>`);
  expect(sourceOf({ branch: 'main' }).text).not.toMatch(/#|<code/);
});
