import { expect, it } from 'vitest';
import { micromarkTree } from './micromark-page-parser.ts';
import { satteriParser } from './satteri-page-parser.ts';

/** The texts that micromark reads of a page. */
function readByMicromark(page: string): string[] {
  const texts: string[] = [];
  const parser = satteriParser((text, ...others) => {
    texts.push(text);
    return micromarkTree(text, ...others);
  });
  parser.parse(page, 'a.mdx');
  return texts;
}

it.each([
  '# **한국**: a\n\n- **설정**, b {1}\n  **実行**、c\n',
  '| **가**: | <b>**나**(다)</b> |\n| - | - |\n| [**마**, 바](/c) | `**사**: **` |\n',
])('satteri alone reads emphasis that the rule for Chinese, Japanese and Korean does not change: %j', (page) => {
  expect(readByMicromark(page)).toEqual([]);
});

it.each(['**한(국)**은\n', 'a*「b」*c\n', '_한_(국)_은_\n', '**가**: *나*, **다**\n', '![**가**: *나](/b.png)\n'])(
  'micromark reads emphasis that it may change: %j',
  (page) => {
    expect(readByMicromark(page)).toHaveLength(1);
  },
);
