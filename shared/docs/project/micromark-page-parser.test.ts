import { describe, expect, test } from 'vitest';
import { micromarkPageParser } from './micromark-page-parser.ts';
import { pageParserContract } from './page-parser.contract.ts';

describe('micromark', () => pageParserContract(micromarkPageParser));

test('a page with thousands of lists inside of lists is refused without parsing it', () => {
  const page = micromarkPageParser.parse('- a\n  - b\n'.repeat(20_000), 'a.mdx');
  expect(page).toMatchObject({ format: 'none', failure: { code: 'page-too-large' } });
});

test('an element that ends before the next one may have more blocks after it than a call takes arguments', () => {
  const page = micromarkPageParser.parse(`<li>\n\n<li />\n\n${'#\n'.repeat(130_000)}`, 'a.mdx');
  expect(page.failure).toBeUndefined();
  expect(page.tree.children).toHaveLength(130_002);
});
