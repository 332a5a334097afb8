import fc from 'fast-check';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { visit } from 'unist-util-visit';
import { expect, test } from 'vitest';
import type { UiChunk } from '#shared/interfaces/http/answer-wire.ts';
import { linkedAsAllowed, ownLinks } from './answer-links.ts';

const page = 'https://docs.example.com/guides/start';
const named = 'https://named.example/a';
const scope = { organization: 'acme', domain: 'docs', contentVersion: 'cv_1' };
const pages = new Set(['index', 'guides/keys', 'evil.example', 'evil.example/index']);
/** Pages with names that a host name could be mistaken for exist here, so that no path is refused because its page is missing. */
const searchIndex = {
  findPage: (_scope: unknown, path: string) =>
    Promise.resolve(pages.has(path) || path.includes('evil') ? { path, title: path } : undefined),
} as unknown as Parameters<typeof ownLinks>[0]['searchIndex'];
const passages = [{ url: '/guides/keys#rotate', text: `See ${named} for more.` }] as unknown as Parameters<
  typeof ownLinks
>[3];

/** The variants of slashes that browsers accept, whole and in parts. */
const slash = fc.constantFrom(
  '/',
  '\\',
  '//',
  '\\\\',
  '/\\',
  '\\/',
  '///',
  '/\t/',
  '/\n/',
  '/ /',
  '&sol;',
  '&#47;',
  '%2F',
);
const protocol = fc.constantFrom(
  '',
  '',
  '',
  'https:',
  'HTTPS:',
  'http:',
  'ht\ttps:',
  'ftp:',
  'javascript:',
  'data:',
  '/',
  '/guides/..',
  '&#104;ttps:',
  'https&colon;',
  'mailto:',
);
const host = fc.constantFrom(
  'evil.example',
  'EVIL.example',
  'evil.example:8080',
  'a@evil.example',
  'evil\\.example',
  'evil&period;example',
  '①.evil.example',
  '[::1]',
  'guides/keys',
  '',
);
const ending = fc.constantFrom('', '/', '/?q=secret', '?q=secret', '#x', '/guides/keys', '/../guides/keys', '/%2e%2e/');
const address = fc.tuple(protocol, slash, slash, host, ending).map((parts) => parts.join(''));
const shorter = fc.tuple(protocol, slash, host, ending).map((parts) => parts.join(''));
const anyAddress = fc.oneof(address, shorter, fc.constantFrom(named, '/guides/keys', '/guides/keys#rotate', '/'));

const form = fc.constantFrom<(url: string) => string>(
  (url) => url,
  (url) => `<${url}>`,
  (url) => `[x](${url})`,
  (url) => `[x](<${url}>)`,
  (url) => `[x]( ${url} "title")`,
  (url) => `[x](${url} '${url}')`,
  (url) => `![x](${url})`,
  (url) => `[![x](${url})](${url})`,
  (url) => `[x](/guides/keys "${url}")`,
  (url) => `[x][1]\n\n[1]: ${url}\n\n`,
  (url) => `[x]\n\n[x]: <${url}> "title"\n`,
  (url) => `[^1]\n\n[^1]: ${url}\n`,
  (url) => `<a href="${url}">x</a>`,
  (url) => `<img src=${url}>`,
  (url) => `<img\nsrc='${url}'>`,
  (url) => `<!-- ${url} -->`,
  (url) => `\`${url}\``,
  (url) => `[${url}](${url})`,
  (url) => `[](//e)${url}`,
  (url) => url.replace('/', '/[](//e)'),
  (url) => url.replaceAll('/', '\\/'),
);
const filling = fc.constantFrom(
  ' ',
  '\n',
  '\n\n',
  '- ',
  '> ',
  '| a | b |\n|-|-|\n| ',
  ' | ',
  '```\n',
  '`',
  '*',
  '**',
  '_',
  '(',
  ')',
  '[',
  ']',
  '!',
  '.',
  'word ',
  'https',
  ':',
  '/',
  '\\',
  '#',
  '~~~\n',
  '<',
  '>',
  '"',
);
const written = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(form, anyAddress).map(([made, url]) => made(url)) },
  { weight: 2, arbitrary: filling },
);
const answers = fc.array(written, { maxLength: 8 }).map((parts) => parts.join(''));

async function* chunksOf(text: string, cuts: readonly number[]): AsyncGenerator<UiChunk> {
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  yield { type: 'text-start', id: 'a' };
  for (const [at, from] of [0, ...places].entries()) {
    yield { type: 'text-delta', id: 'a', delta: text.slice(from, places[at] ?? text.length) };
  }
  yield { type: 'text-end', id: 'a' };
}

async function shownOf(text: string, cuts: readonly number[]): Promise<string> {
  let shown = '';
  for await (const chunk of linkedAsAllowed(chunksOf(text, cuts), ownLinks({ searchIndex }, scope, [], passages))) {
    if (chunk.type === 'text-delta') shown += String(chunk.delta);
  }
  return shown;
}

const linkified = /(?<![:/])\/\/(?:[^\s/@]*@)?[-\p{L}\p{N}]+\.[-\p{L}\p{N}]\S*/gu;

/** Link targets that readers would make from Markdown, HTML, and bare addresses in text, as linkifiers see them. */
function targetsIn(markdown: string): string[] {
  const tree = fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  const found: string[] = [];
  visit(tree, (node) => {
    if (node.type === 'link' || node.type === 'image' || node.type === 'definition') found.push(node.url);
    if (node.type === 'html') found.push(`https://html.invalid/${node.value}`);
    if (node.type === 'text') found.push(...(node.value.match(linkified) ?? []));
  });
  return found;
}

const allowed = new Set([new URL(page).origin, new URL(named).origin]);

test('links of any answer, in any pieces, lead only to allowed addresses', async () => {
  await fc.assert(
    fc.asyncProperty(answers, fc.array(fc.nat(400), { maxLength: 6 }), async (text, cuts) => {
      const shown = await shownOf(text, cuts);
      const elsewhere = targetsIn(shown).filter((url) => !allowed.has(URL.parse(url, page)?.origin ?? ''));
      expect({ shown, elsewhere }).toEqual({ shown, elsewhere: [] });
    }),
    { numRuns: 500, seed: 11 },
  );
});

test.each([
  ['See //evil.example/?q=secret now', 'See `//evil.example/?q=secret` now'],
  ['//evil.example', '`//evil.example`'],
  ['\\//evil.example/?q and /\\/evil.example/?q', '\\\\`//evil.example/?q` and `//evil.example/?q`'],
  ['/[/evil.example/?q=1](//e) b', '/`/evil.example/?q=1` b'],
  ['[a](</\t/evil.example/guides/keys>) b', 'a b'],
  ['[a](/\\evil.example/guides/keys) [b](https:/evil.example) [c](HTTPS:\\\\evil.example)', 'a b c'],
  ['[a](mailto:/) [b](mailto:) [c](mailto:See) [d](MAILTO:a@b.example)', 'a b c d'],
  [
    'https://named.example/a"<img src=//evil.example/?q> b',
    '`https://named.example/a`"\\<img src=`//evil.example/?q`> b',
  ],
  [
    'See "https://named.example/a", (https://named.example/a).',
    'See "https://named.example/a", (https://named.example/a).',
  ],
  ['// a comment, a//b, //todo and redis://cache.example', '// a comment, a//b, //todo and redis://cache.example'],
  ['[a](/guides/keys) and [b](/guides/keys#rotate)', '[a](/guides/keys) and [b](/guides/keys#rotate)'],
])('%s', async (text, shown) => {
  for (const cuts of [[], Array.from({ length: text.length }, (_, at) => at)])
    expect(await shownOf(text, cuts)).toBe(shown);
});
