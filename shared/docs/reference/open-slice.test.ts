import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { en } from '#shared/docs/render/interface-texts/language.ts';
import { markdownOf } from '#shared/docs/render/markdown/page-markdown.ts';
import { openSlice } from './open-slice.ts';
import { withReference } from './reference-content.ts';

const folder = new URL('./golden/', import.meta.url);
const empty = { tree: { type: 'root' as const, children: [] } };
const options = { texts: en, examples: {}, hasDescription: false, parser: undefined };

const shown: Record<string, string[]> = {
  'operation-1.json': [
    '`id` (string, required)',
    '`name` (string, required)',
    '`X-Key`',
    'api.example.com',
    '## Callbacks',
  ],
  'schema-1.json': ['`name` (string, required)', '`parent`'],
  'channel-1.json': ['wss://example.com', '`street`', '`lumens` (integer, required)', '`token`'],
};

describe('slices stored by earlier versions', () => {
  test.each(readdirSync(folder))('%s is shown', (name) => {
    const { tree } = withReference(empty, readFileSync(new URL(name, folder), 'utf8'), options);
    const markdown = markdownOf(tree.children);
    expect(shown[name]?.length).toBeGreaterThan(0);
    for (const part of shown[name] ?? []) expect(markdown).toContain(part);
  });
});

test.each(['', '{', '[]', '{}', '{"paths":7}'])('%j has no content', (text) => {
  expect(openSlice(text)).toBeUndefined();
  expect(withReference(empty, text, options).tree.children).toEqual([]);
});
