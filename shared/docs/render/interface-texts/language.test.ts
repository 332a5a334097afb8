import { describe, expect, test } from 'vitest';
import { filled, type InterfaceTexts } from './interface-texts.ts';
import { en, languageOf } from './language.ts';

/** All language codes of the documentation format. */
const codes =
  `ar ca cn cs da de en es fi fr fr-CA he hi hu id it ja ja-JP jp ko lv nl no pl pt pt-BR ro ru sv tr uk uz vi zh zh-CN zh-Hans zh-Hant
  zh-TW`.split(/\s+/);

const placeholders = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).sort();

const pairs = (texts: InterfaceTexts): [key: string, text: string][] => {
  const { scripts, reference, playground, page, ...frame } = texts;
  const { results, assistant, ...words } = scripts;
  return [frame, page, reference, playground, assistant, words].flatMap((part) => Object.entries(part));
};

describe.each(codes)('texts in %s', (code) => {
  const { texts, tag } = languageOf(code);
  const english = pairs(en);

  test('are there, with the names in braces that the English ones have', () => {
    expect(pairs(texts).map(([key]) => key)).toEqual(english.map(([key]) => key));
    for (const [at, [key, text]] of pairs(texts).entries()) {
      expect([key, text.trim()]).toEqual([key, text]);
      expect(text).not.toBe('');
      expect([key, placeholders(text)]).toEqual([key, placeholders(english[at]?.[1] ?? '')]);
    }
    expect(texts.scripts.results.other).toContain('{count}');
  });

  test('are its own', () => {
    if (code !== 'en') expect(texts.onThisPage).not.toBe(en.onThisPage);
  });

  test('have each plural form that the language needs for whole numbers', () => {
    const rules = new Intl.PluralRules(tag);
    const needed = new Set(Array.from({ length: 200 }, (_, count) => rules.select(count)));
    for (const form of needed) expect(Object.keys(texts.scripts.results)).toContain(form);
  });
});

test.each([
  [undefined, 'en', 'ltr', undefined],
  ['en-GB', 'en-GB', 'ltr', undefined],
  ['fr-CA', 'fr-CA', 'ltr', 'fr'],
  ['cn', 'zh-CN', 'ltr', 'zh'],
  ['jp', 'ja', 'ltr', 'ja'],
  ['zh-TW', 'zh-TW', 'ltr', 'zh-hant'],
  ['zh-Hant-HK', 'zh-Hant-HK', 'ltr', 'zh-hant'],
  ['pt-BR', 'pt-BR', 'ltr', 'pt-br'],
  ['nb', 'nb', 'ltr', 'no'],
  ['ar-EG', 'ar-EG', 'rtl', 'ar'],
  ['fa', 'fa', 'rtl', undefined],
  ['xx', 'xx', 'ltr', undefined],
  ['constructor', 'constructor', 'ltr', undefined],
])('%s is %s, %s, with texts of %s', (code, tag, direction, textsName) => {
  expect(languageOf(code)).toMatchObject({ tag, direction });
  expect(languageOf(code).textsName).toBe(textsName);
});

test('names in braces without a value stay', () => {
  expect(filled('{a} and {b}', { a: '{b}' })).toBe('{b} and {b}');
});
