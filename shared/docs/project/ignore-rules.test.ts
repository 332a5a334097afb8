import { describe, expect, it } from 'vitest';
import { ignoreRules, segmentMatch } from './ignore-rules.ts';

describe('ignored files', () => {
  it.each([
    ['node_modules/a.mdx', true],
    ['docs/build/x.mdx', true],
    ['README.md', true],
    ['guides/README.md', true],
    ['.git/config', true],
    ['readme.mdx', false],
    ['builds/x.mdx', false],
  ])('by default: %s %s', (path, ignored) => {
    expect(ignoreRules('')(path)).toBe(ignored);
  });

  it.each([
    ['drafts/', 'drafts/a.mdx', true],
    ['drafts/', 'x/drafts/a.mdx', true],
    ['drafts/', 'drafts', false],
    ['/drafts', 'x/drafts/a.mdx', false],
    ['*.draft.mdx', 'x/y.draft.mdx', true],
    ['a/*.mdx', 'a/b/c.mdx', false],
    ['a/**/c.mdx', 'a/c.mdx', true],
    ['a/**/c.mdx', 'a/b/b/c.mdx', true],
    ['**/internal/**', 'x/internal/a.mdx', true],
    ['*.mdx\n!keep.mdx', 'keep.mdx', false],
    ['private/\n!private/keep.mdx', 'private/keep.mdx', true],
    ['# a comment\n\n', 'a.mdx', false],
    ['\\#a.mdx', '#a.mdx', true],
    ['!README.md', 'README.md', false],
    ['[ab].mdx', 'b.mdx', true],
    ['[!ab].mdx', 'b.mdx', false],
    ['[a-c]?.mdx', 'cx.mdx', true],
  ])('with %j: %s %s', (mintignore, path, ignored) => {
    expect(ignoreRules(mintignore)(path)).toBe(ignored);
  });

  it('includes those of patterns that are written to cause backtracking', () => {
    expect(segmentMatch(`${'*a'.repeat(200)}b`, 'a'.repeat(250))).toBe(false);
    expect(ignoreRules(`${'**/a/'.repeat(80)}b`)(`${'a/'.repeat(200)}c`)).toBe(false);
  });
});
