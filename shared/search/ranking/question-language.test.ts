import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { languageNotice, languageOfText } from './question-language.ts';

test.each([
  ['Wie lösche ich einen Arbeitsbereich?', 'de'],
  ['was kostet die API', 'de'],
  ['Comment supprimer un espace de travail ?', 'fr'],
  ["où est la clé de l'API", 'fr'],
  ['¿Cómo elimino un espacio de trabajo?', 'es'],
  ['Como eu apago um espaço de trabalho?', 'pt'],
  ['Come posso eliminare una cartella?', 'it'],
  ['Hoe verwijder ik een werkruimte?', 'nl'],
  ['Hur tar jag bort en arbetsyta?', 'sv'],
  ['Jak mogę usunąć konto?', 'pl'],
  ['Bir çalışma alanını nasıl silerim?', 'tr'],
  ['Bagaimana cara menghapus akun saya?', 'id'],
  ['Làm thế nào để xóa tài khoản?', 'vi'],
  ['如何删除工作区', 'zh'],
  ['如何安装 bindery cli', 'zh'],
  ['ワークスペースを削除する方法', 'ja'],
  ['작업 공간을 삭제하는 방법', 'ko'],
  ['Как удалить рабочее пространство?', 'ru'],
  ['Як видалити робочий простір?', 'uk'],
  ['كيف أحذف مساحة العمل', 'ar'],
  ['How do I delete a workspace?', 'en'],
  ['what does 設定 mean in the settings', 'en'],
  ['what does `Comment est-ce que je` do', 'en'],
])('%s is %s', (text, language) => {
  expect(languageOfText(text)).toBe(language);
});

test.each([
  '',
  'useChat',
  'delete workspace',
  'ERR_MODULE_NOT_FOUND',
  '--max-old-space-size',
  'docker die',
  'El Capitan',
  'POST /v1/jobs/{id}',
  '設',
])('the language of "%s" is not clear', (text) => expect(languageOfText(text)).toBeUndefined());

test('no question of newcomers counts as another language', () => {
  const file = join(import.meta.dirname, '../../../test/bench/newcomer-questions.jsonl');
  const questions = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { query: string }).query);
  expect(questions.filter((query) => !['en', undefined].includes(languageOfText(query)))).toEqual([]);
  expect(questions.filter((query) => languageOfText(query) === 'en').length).toBeGreaterThan(20);
});

const english = { text: 'You can delete a workspace when you are its owner.' };
const german = { text: 'Sie können einen Arbeitsbereich löschen, wenn er Ihnen gehört und es keine Daten gibt.' };

test('a question in another language than all found texts gets a notice', () => {
  const question = 'Wie lösche ich einen workspace?';
  expect(languageNotice(question, [english])).toBe(
    'The question seems to be in German, and the passages that were found are in English. Names, codes and identifiers are found in any language; for other words, ask in English.',
  );
  expect(languageNotice(question, [english, { text: 'npm rm', language: 'ja' }])).toMatch(
    /found are in English and Japanese\. .* for other words, ask in English or Japanese\.$/,
  );
  expect(languageNotice(question, [])).toBe(
    'The question seems to be in German, and nothing was found. Names, codes and identifiers are found in any language.',
  );
  expect(languageNotice(question, [english, german])).toBeUndefined();
  expect(languageNotice(question, [{ text: 'npm rm', language: 'de-AT' }])).toBeUndefined();
  expect(languageNotice(question, [{ text: 'npm rm' }])).toBeUndefined();
  expect(languageNotice('How do I delete it?', [english])).toBeUndefined();
  expect(languageNotice('How do I delete it?', [])).toBeUndefined();
  expect(languageNotice('How do I delete it?', [german])).toContain('that were found are in German');
  expect(languageNotice('如何删除工作区', [{ text: 'npm rm', language: 'cn' }])).toBeUndefined();
  expect(languageNotice(question, [{ ...english, language: 'not a language!' }])).toContain('English');
});

test('a language under a name that only a site uses is not named', () => {
  const question = 'Wie kann ich das machen und warum ist es nicht so?';
  for (const language of ['日本語', 'x\r\ny: z', 'l'.repeat(100_000), '__proto__'])
    expect(languageNotice(question, [{ text: 'x', language }])).toBeUndefined();
  expect(languageNotice(question, [{ text: 'x', language: 'fr-CA' }])).toContain('French');
});
