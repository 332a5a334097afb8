import { expect, test } from 'vitest';
import { analyzeQuery, analyzeText } from './analyze-text.ts';

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

test('a question keeps what it is about', () => {
  expect(analyzeQuery('How do I rotate the API key of a domain?')).toEqual(['rotat', 'api', 'kei', 'domain']);
  expect(analyzeQuery('What is this?')).toEqual(['what', 'is', 'thi']);
});

test('hostile queries are bounded', () => {
  expect(analyzeQuery(Array.from({ length: 5_000 }, (_, at) => `word${at}`).join(' '))).toHaveLength(40);
  expect(analyzeText('x'.repeat(100_000))).toEqual([]);
});
