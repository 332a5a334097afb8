import { expect, test } from 'vitest';
import { languageNotice } from './language-notice.ts';
import { frequentWordsOf } from './question-language.ts';

const noticeInEnglish = (...asked: Parameters<typeof languageNotice>): string | undefined =>
  languageNotice(...asked)?.inEnglish;

const english = { text: 'You can delete a workspace when you are its owner.' };
const german = { text: 'Sie können einen Arbeitsbereich löschen, wenn er Ihnen gehört und es keine Daten gibt.' };

test('a question in another language than all found texts gets a notice', () => {
  const question = 'Wie lösche ich einen workspace?';
  expect(noticeInEnglish(question, [english])).toBe(
    'The question seems to be in German, and the passages that were found are in English. Names, codes and identifiers are found in any language; for other words, ask in English.',
  );
  expect(noticeInEnglish(question, [english, { text: 'npm rm', language: 'ja' }])).toMatch(
    /found are in English and Japanese\. .* for other words, ask in English or Japanese\.$/,
  );
  expect(noticeInEnglish(question, [])).toBe(
    'The question seems to be in German, and nothing was found. Names, codes and identifiers are found in any language.',
  );
  expect(noticeInEnglish(question, [english, german])).toBeUndefined();
  expect(noticeInEnglish(question, [{ text: 'npm rm', language: 'de-AT' }])).toBeUndefined();
  expect(noticeInEnglish(question, [{ text: 'npm rm' }])).toBeUndefined();
  expect(noticeInEnglish('How do I delete it?', [english])).toBeUndefined();
  expect(noticeInEnglish('How do I delete it?', [])).toBeUndefined();
  expect(noticeInEnglish('How do I delete it?', [german])).toContain('that were found are in German');
  expect(noticeInEnglish('如何删除工作区', [{ text: 'npm rm', language: 'cn' }])).toBeUndefined();
  expect(noticeInEnglish(question, [{ ...english, language: 'not a language!' }])).toContain('English');
});

test('a language under a name that only a site uses is not named', () => {
  const question = 'Wie kann ich das machen und warum ist es nicht so?';
  for (const language of ['日本語', 'x\r\ny: z', 'l'.repeat(100_000), '__proto__'])
    expect(noticeInEnglish(question, [{ text: 'x', language }])).toBeUndefined();
  expect(noticeInEnglish(question, [{ text: 'x', language: 'fr-CA' }])).toContain('French');
});

test.each([
  [
    'Wie kann ich das machen und warum ist es nicht so?',
    'Die gefundenen Seiten sind auf Englisch und werden nicht übersetzt.',
  ],
  ['¿Cómo puedo hacer esto y por qué no es así?', 'Las páginas encontradas están en inglés y no se traducen.'],
  ['どうすれば削除できますか？', '見つかったページは英語で書かれており、翻訳されません。'],
  ['كيف يمكنني حذف مساحة العمل؟', 'لغة الصفحات التي عُثر عليها: الإنجليزية. وهي غير مترجمة.'],
])('a reader who asks "%s" reads in the same language that the pages are in another', (question, notice) => {
  expect(languageNotice(question, [english])?.inOwn).toBe(notice);
});

test.each('de fr es pt it nl sv da no pl cs tr fi id vi'.split(' '))(
  'the notice in the language "%s" has a sentence with names of that language',
  (language) => {
    const notice = languageNotice(frequentWordsOf(language), [english, { text: 'x', language: 'ko' }]);
    expect(notice?.inEnglish).toMatch(/^The question seems to be in /);
    const names = ['en', 'ko'].map((one) => new Intl.DisplayNames([language], { type: 'language' }).of(one) ?? '');
    for (const name of names) expect(notice?.inOwn).toContain(name);
  },
);
