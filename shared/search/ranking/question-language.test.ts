import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { languageOfText } from './question-language.ts';

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
