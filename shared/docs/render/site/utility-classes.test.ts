import { expect, test } from 'vitest';
import { classCss, utilityRule } from './utility-classes.ts';

test('rules of the classes in use, conditional ones last', () => {
  expect(classCss(['hidden', 'dark:block', 'mt-4', 'my-own', 'md:w-1/2'])).toBe(
    [
      ':is(.mdx-content, .page-aside) .hidden { display: none !important }',
      ':is(.mdx-content, .page-aside) .mt-4 { margin-top: 1rem !important }',
      '.dark :is(.mdx-content, .page-aside) .dark\\:block { display: block !important }',
      '@media (min-width: 768px) { :is(.mdx-content, .page-aside) .md\\:w-1\\/2 { width: 50% !important } }',
      '',
    ].join('\n'),
  );
});

test('what is no utility has no rule', () => {
  for (const name of ['constructor', 'x{}', 'mt-[4px]', 'a:b:c:flex', 'not-prose'])
    expect(utilityRule(name)).toBeUndefined();
});
