import { expect, test } from 'vitest';
import { analyzeQuery, analyzeText, wordsWith } from './analyze-text.ts';

test('words are folded and stemmed', () => {
  expect(analyzeText("The Café's DELIVERIES, naïvely retried")).toEqual(['the', 'cafe', 'deliveri', 'naiv', 'retri']);
});

test('names are found by their parts and as a whole', () => {
  expect(analyzeText('retrievalPageSize')).toEqual(['retriev', 'page', 'size', 'retrievalpages']);
  expect(analyzeText('docs.json e-mail HTTPServer')).toEqual([
    'doc',
    'json',
    'docsjson',
    'e',
    'mail',
    'email',
    'http',
    'server',
    'httpserver',
  ]);
});

test('scripts without spaces become pairs, beside Latin names', () => {
  expect(analyzeText('使用API密钥')).toEqual(['使用', 'api', '密钥']);
  expect(analyzeText('発行')).toEqual(['発行']);
});

test('terms have letters and digits only, so that no engine reads an operator in them', () => {
  for (const term of analyzeText('a"b*c(d) -e:f^g {h} \u0000 NEAR/2 C++ ✨')) expect(term).toMatch(/^[\p{L}\p{N}]+$/u);
});

test('a question keeps its topic', () => {
  expect(analyzeQuery('How do I rotate the API key of a domain?')).toEqual(['rotat', 'api', 'kei', 'domain']);
  expect(analyzeQuery('What is this?')).toEqual(['what', 'is', 'thi']);
});

test('irregular forms are one word, and different words with the same beginning are several', () => {
  expect(analyzeText('stole stolen stealing')).toEqual(['steal', 'steal', 'steal']);
  expect(analyzeText('a customer of custom, important to import')).toEqual([
    ...['a', 'customer', 'of', 'custom'],
    ...['important', 'to', 'import'],
  ]);
});

test('hostile queries are bounded', () => {
  expect(analyzeQuery(Array.from({ length: 5_000 }, (_, at) => `word${at}`).join(' '))).toHaveLength(40);
  expect(analyzeText('x'.repeat(100_000))).toEqual([]);
});

// Pairs from Porter's paper and from the vocabulary that comes with the author's program.
test.each([
  ['caresses', 'caress'],
  ['ponies', 'poni'],
  ['cats', 'cat'],
  ['agreed', 'agre'],
  ['plastered', 'plaster'],
  ['motoring', 'motor'],
  ['sing', 'sing'],
  ['conflated', 'conflat'],
  ['sized', 'size'],
  ['hopping', 'hop'],
  ['falling', 'fall'],
  ['filing', 'file'],
  ['happy', 'happi'],
  ['sky', 'sky'],
  ['relational', 'relat'],
  ['rational', 'ration'],
  ['digitizer', 'digit'],
  ['radically', 'radic'],
  ['vietnamization', 'vietnam'],
  ['sensibility', 'sensibl'],
  ['triplicate', 'triplic'],
  ['hopefulness', 'hope'],
  ['replacement', 'replac'],
  ['adoption', 'adopt'],
  ['controlling', 'control'],
  ['rate', 'rate'],
  ['cease', 'ceas'],
  ['yes', 'ye'],
  ['generalizations', 'gener'],
])('%s has the stem %s', (word, stem) => expect(analyzeText(word)).toEqual([stem]));

test('names, numbers and other scripts are not stemmed', () => {
  expect(analyzeText('cv sha256 k8s 文档')).toEqual(['cv', 'sha256', 'k8s', '文档']);
});

test('finds the ranges of words with given terms, in any form and as parts of names', () => {
  const text = 'Set retrievalPageSize; pages are paged. 安装命令行工具';
  const marked = (terms: string[]) => wordsWith(text, new Set(terms)).map(([start, end]) => text.slice(start, end));
  expect(marked(['page'])).toEqual(['retrievalPageSize', 'pages', 'paged']);
  expect(marked(['命令'])).toEqual(['安装命令行工具']);
  expect(marked([])).toEqual([]);
});

test('stop words are left out of questions, in the language that they are plainly in', () => {
  expect(analyzeQuery('And how do I delete it again?')).toEqual(['delet']);
  expect(analyzeQuery('Was ist ein Bundle?')).toEqual(['bundl']);
  expect(analyzeQuery('Comment faire pour changer le thème ?')).toEqual(['changer', 'theme']);
  expect(analyzeQuery('What is this?')).toEqual(['what', 'is', 'thi']);
});
