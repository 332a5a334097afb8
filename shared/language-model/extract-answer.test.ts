import { expect, test } from 'vitest';
import { extractAnswer } from './extract-answer.ts';
import { notInDocumentation } from './not-in-documentation.ts';

const passage = (more: object) => ({
  url: '/keys#rotate',
  title: 'Keys › Rotate',
  relevance: 0.9,
  text: 'Rotate a key once a year.',
  ...more,
});

test('quotes what answers, with a link to it', () => {
  expect(extractAnswer('How do I rotate a key?', [passage({})])).toBe(
    'The documentation says:\n\n[Keys › Rotate](/keys#rotate):\n\n> Rotate a key once a year.',
  );
});

test('says so plainly when nothing is good enough', () => {
  expect(extractAnswer('What is the capital of France?', [passage({ relevance: 0.43 })])).toBe(notInDocumentation);
  expect(extractAnswer('Anything?', [])).toBe(notInDocumentation);
});

test('leaves out passages far behind the best', () => {
  const answer = extractAnswer('rotate key', [passage({ relevance: 1 }), passage({ url: '/other', relevance: 0.6 })]);
  expect(answer).not.toContain('/other');
});

test('of a long passage quotes the part with the words of the question', () => {
  const filler = 'Nothing of interest is said in this sentence at all. '.repeat(14);
  const text = `${filler}\n\nTo rotate the key, press the button.\n\n${filler}`;
  const answer = extractAnswer('How to rotate the key?', [passage({ text })]);
  expect(answer).toContain('> To rotate the key, press the button.');
  expect(answer.length).toBeLessThan(800);
});

test('code keeps its lines', () => {
  const answer = extractAnswer('rotate key', [passage({ text: 'Run this:\n\nkeys \\\n  rotate' })]);
  expect(answer).toContain('> Run this:\n>\n> keys \\\n>   rotate');
});
