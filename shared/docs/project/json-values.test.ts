import { expect, it } from 'vitest';
import { isExternalHref, isSafeHref } from './json-values.ts';

it.each([
  ['https://a.example', true],
  ['mailto:a@b.example', true],
  ['/x', true],
  ['guides/x', true],
  ['#a', true],
  ['/a?b=c:d', true],
  ['javascript:alert(1)', false],
  [' java\u0000script:alert(1)', false],
  ['JAVA\tSCRIPT:alert(1)', false],
  ['data:text/html,x', false],
  ['vbscript:x', false],
  ['file:///etc/passwd', false],
])('%j may be linked to: %s', (href, safe) => {
  expect(isSafeHref(href)).toBe(safe);
});

it.each([
  ['//a.example', true],
  ['\\\\a.example', true],
  ['https://a.example', true],
  ['/a', false],
  ['a/b', false],
])('%j leads elsewhere: %s', (href, external) => {
  expect(isExternalHref(href)).toBe(external);
});
