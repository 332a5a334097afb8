import { expect, test } from 'vitest';
import { porterStem } from './porter-stem.ts';

// Pairs from the paper and from the vocabulary that comes with the author's program.
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
])('%s has the stem %s', (word, stem) => {
  expect(porterStem(word)).toBe(stem);
});

test('names, numbers and other scripts stay as they are', () => {
  for (const word of ['cv', 'sha256', 'größe', '文档']) expect(porterStem(word)).toBe(word);
});
