import { expect, test } from 'vitest';
import { AnchorNames } from './anchor-names.ts';

const namesOf = (...ids: string[]) => new AnchorNames(new Set(ids));

test.each([
  ['chat--the-live-demo', 'chat-—-the-live-demo'],
  ['whats-new', 'what’s-new'],
  ['can-t-connect', 'can’t-connect'],
  ['jwt--cookie-auth', 'jwt-/-cookie-auth'],
  ['sandbox_defaultsoci', 'sandbox_defaults-oci'],
  ['what-is-it%3F', 'what-is-it'],
  ['Step-1:-Set-Up', 'step-1-set-up'],
  ['h-links', 'links'],
  ['h-what-is-it?', 'what-is-it'],
  ['%E2%80%94the-plan', 'the-plan'],
  ['param-theme-mode', 'thememode'],
  ['param-thumbnails-background', 'thumbnails-background'],
  ['id-2.-caching', '2-caching'],
])('#%s leads to the heading #%s', (written, id) => {
  expect(namesOf('other', id, 'another').find(written)).toBe(id);
});

test('an exact id comes first, even if others have its letters', () => {
  expect(namesOf('a-b', 'ab').find('a-b')).toBe('a-b');
  expect(namesOf('h-links', 'links').find('h-links')).toBe('h-links');
});

test('an anchor whose letters and digits fit two headings leads to none', () => {
  expect(namesOf('set-up', 'setup').find('set_up')).toBeUndefined();
});

test('of headings with the same letters and digits, the one that differs only in repeated hyphens is meant', () => {
  const names = namesOf('param---max-time', 'param-max_time', 'param-maxTime');
  expect(names.find('param-max-time')).toBe('param---max-time');
  expect(names.find('param-MaxTime')).toBeUndefined();
});

test('an anchor without letters and digits leads nowhere', () => {
  expect(namesOf('—').find('--')).toBeUndefined();
  expect(namesOf('one').find('%')).toBeUndefined();
});

test('the nearest id is found if it is similar enough', () => {
  const names = namesOf('rate-limits-per-minute', 'errors');
  expect(names.nearest('rate-limits')).toBe('rate-limits-per-minute');
  expect(names.nearest('pricing')).toBeUndefined();
});

test('a field of a response is found without the status', () => {
  const names = namesOf('response-404-code', 'response-200-createdAt', 'response-201-createdAt');
  expect(names.find('response-created-at')).toBe('response-200-createdAt');
  expect(names.find('response-code')).toBeUndefined();
});
