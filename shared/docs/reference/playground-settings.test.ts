import { expect, test } from 'vitest';
import { playgroundSettings } from './playground-settings.ts';

test.each([
  [undefined, undefined, 'interactive'],
  [undefined, 'simple', 'simple'],
  ['none', undefined, undefined],
  ['none', 'interactive', 'interactive'],
  ['interactive', 'auth', undefined],
  ['auth', undefined, undefined],
  ['simple', 'loud', 'simple'],
])('docs.json says %s and the page %s: %s', (display, playground, expected) => {
  const api = display === undefined ? {} : { playground: { display, proxy: true, credentials: true } };
  const frontmatter = playground === undefined ? {} : { playground };
  expect(playgroundSettings(frontmatter, api)?.display).toBe(expected);
});

test('fields are filled if docs.json asks for it', () => {
  expect(playgroundSettings({}, { examples: { prefill: true } })).toEqual({ display: 'interactive', prefill: true });
});
