import { expect, test } from 'vitest';
import { isolateCss } from '#shared/docs/render/isolate/isolate-css.ts';
import { classCss } from './utility-classes.ts';

const inside = ':is(.mdx-content, .aside-content, #content)';
const css = (...names: string[]): Promise<string> => classCss(names, { primary: '#0d9373', light: '#55d799' });

test('rules of the classes in use, conditional ones last', async () => {
  expect(await css('md:w-1/2', 'hidden', 'dark:block', 'mt-4', 'rtl:ml-2', 'my-own', 'not-prose')).toBe(
    [
      `${inside} .mt-4{margin-top:1rem;}`,
      `[dir="rtl"] ${inside} .rtl\\:ml-2{margin-left:0.5rem;}`,
      `.dark ${inside} .dark\\:block{display:block;}`,
      `${inside} .hidden{display:none;}`,
      `@media (min-width: 768px){${inside} .md\\:w-1\\/2{width:50%;}}`,
      '',
    ].join('\n'),
  );
  expect(await css('my-own', 'card', 'constructor', '__proto__')).toBe('\n');
});

test('the same names give the same text in any order', async () => {
  const names = ['p-2', 'hover:p-4', 'shadow-lg', 'border-t', 'sm:dark:p-1', 'animate-spin', 'rotate-45', 'space-y-2'];
  expect(await css(...names.toReversed(), ...names)).toBe(await css(...names));
});

test('names of the format in addition to those of Tailwind', async () => {
  expect(await css('text-primary')).toContain('color:var(--accent-text)');
  expect(await css('bg-primary/20')).toContain('background-color:rgb(13 147 115 / 0.2)');
  expect(await css('dark:text-primary-light')).toContain('rgb(85 215 153 /');
  expect(await css('bg-background-dark')).toContain('background-color:var(--bg)');
  expect(await css('font-mono')).toContain('font-family:var(--mono)');
  expect(await classCss(['bg-primary'], { primary: 'red;}body{color:red' })).toContain('var(--accent)');
});

test('Tailwind’s styles of all elements are set only where a class needs them', async () => {
  expect(await css('border-t')).toContain(`:where(${inside} .border-t){border:0 solid var(--line)}`);
  expect(await css('scale-105')).toMatch(/^:where\(.mdx-content, .aside-content\) \*,.*--un-rotate:0;/);
  expect(await css('p-2')).not.toContain(':where');
});

test.each(['hover:', 'md:', '[&:hover]:', 'group-hover/a:', '@sm:'])(
  'a name with many of the variant %s has no rule, and the other classes keep theirs',
  async (variant) => {
    const sheet = await classCss([`${variant.repeat(11)}p-1`, 'dark:md:hover:p-2'], { primary: '#0f766e' });
    expect(sheet).toContain('p-2');
    expect(sheet).not.toContain('p-1');
  },
);

/** Matches a rule that applies only inside the content, or the name of an animation. */
const harmless = new RegExp(
  [
    String.raw`^(@(media|supports|container) [^{}"'<;@]+\{)?`,
    String.raw`((\.dark|\.light|\[dir="(ltr|rtl)"\]) )*`,
    `${inside.replace(/[().]/g, '\\$&')} `,
    String.raw`\.(\\.|[^\\{}<,;@"'])+\{[^{}<@]*\}\}?$`,
  ].join(''),
  'u',
);

function unsafeRules(sheet: string): string[] {
  return sheet
    .replaceAll(/@keyframes [a-z-]+\{[^]*?\}\}/g, '')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith(':where(') && (!harmless.test(line) || line.includes('url(')));
}

const hostile = [
  'bg-[url(https://evil.example/x)]',
  'bg-[URL(//evil.example)]',
  'bg-[image-set(//evil.example)]',
  '[--x:url(//evil.example)]',
  '[background:u\\72l(//evil.example)]',
  'cursor-[url(//evil.example)]',
  '[&,body]:hidden',
  '[body_&]:hidden',
  'selector-[body]:hidden',
  'selector-[.dark_body]:hidden',
  'parent-[body]:hidden',
  'layer-base:hidden',
  'view-transition-root',
  "content-['}body{display:none}']",
  '[color:red;}body{color:red]',
  'has-[p)]:hidden',
  'supports-[display:grid)]:grid',
  'w-[calc(1px]',
  'p-[1px]/*',
  'variables-[body]:hidden',
  '[@import_x]:hidden',
  'group-[body,_&]:hidden',
  'data-[x="y"]:hidden',
  "before:content-['</style>']",
];

test('a class has no effect outside of the content and loads nothing', async () => {
  for (const name of hostile) expect([name, unsafeRules(await css(name))]).toEqual([name, []]);
  const together = await css(...hostile, 'mt-4', 'md:hidden');
  expect(unsafeRules(together)).toEqual([]);
  expect(isolateCss(together)).toBeDefined();
  expect(together).toContain('.mt-4{margin-top:1rem;}');
  expect(together).toContain('.md\\:hidden{display:none;}');
});

test('a name that is longer than any utility has no rules, and the others have theirs', async () => {
  const names = (length: number) =>
    ['@sm:', '!', '-', 'hover:', '[&>b]:'].map((part) => part.repeat(Math.floor((length - 3) / part.length)) + 'p-1');
  expect(await css(...names(300), 'mt-4')).toContain('.mt-4{margin-top:1rem;}');
  expect(await css(...names(6_000), 'mt-4')).toBe(await css('mt-4'));
});

test('nor does any combination of meaningful parts', async () => {
  const parts =
    'p-1 hover: dark: md: bg-[ [& _ - / ( ) x 1 . group- has-[ ] , \' " : from- ! @ calc( var(-- < > { } ; \\ body url('.split(
      ' ',
    );
  let state = 7;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >> 8) % below;
  };
  const names = Array.from({ length: 3000 }, () =>
    Array.from({ length: 2 + random(7) }, () => parts[random(parts.length)]).join(''),
  );
  const sheet = await css(...names);
  expect(unsafeRules(sheet)).toEqual([]);
  expect(isolateCss(sheet)).toBeDefined();
});
