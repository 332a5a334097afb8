import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { digestStates, type DigestStates, runningDigest } from './running-digest.ts';

/** The digest of a file of a few bytes and these texts, with the texts that had to be read. */
function digested(states: DigestStates | undefined, texts: readonly string[], begin = 'begin') {
  const digest = runningDigest(states);
  digest.add(Buffer.from(begin));
  const names = texts.map((text) => hash('sha256', text, 'hex'));
  const known = digest.addKnown(names);
  const read = texts.slice(known);
  for (const [at, text] of read.entries()) digest.addText(names[known + at] ?? '', Buffer.from(text));
  digest.remember();
  digest.add(Buffer.from('end'));
  return { sha256: digest.hex(), read: read.length };
}

const sha256Of = (texts: readonly string[], begin = 'begin') => hash('sha256', `${begin}${texts.join('')}end`, 'hex');
const texts = Array.from({ length: 100 }, (_, at) => `Text ${at}. `);

test('texts before a change are not read again, and the digest is that of all bytes', () => {
  const states = digestStates();
  expect(digested(states, texts)).toEqual({ sha256: sha256Of(texts), read: 100 });
  expect(digested(states, texts)).toEqual({ sha256: sha256Of(texts), read: 0 });
  const changes: [string[], number][] = [
    [texts.with(70, 'Changed'), 36],
    [texts.toSpliced(99, 1), 3],
    [[...texts, 'Added'], 1],
    [texts.toSpliced(0, 1), 99],
    [texts.with(0, texts[1] ?? '').with(1, texts[0] ?? ''), 100],
  ];
  for (const [changed, read] of changes) {
    expect(digested(states, changed)).toEqual({ sha256: sha256Of(changed), read });
    expect(digested(states, changed).read).toBe(0);
  }
});

test('bytes before the texts are part of what is known', () => {
  const states = digestStates();
  digested(states, texts);
  for (const begin of ['other', 'begin ', 'x'.repeat(10_000), 'y'.repeat(10_000)])
    expect(digested(states, texts, begin)).toEqual({ sha256: sha256Of(texts, begin), read: 100 });
  expect(digested(states, texts).read).toBe(0);
});

test('without states all texts are read', () => {
  for (const _ of [1, 2]) expect(digested(undefined, texts)).toEqual({ sha256: sha256Of(texts), read: 100 });
});
