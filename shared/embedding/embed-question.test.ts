import pino from 'pino';
import { expect, test } from 'vitest';
import { questionEmbedder } from './embed-question.ts';
import { type Embedder, EmbedderRefused, EmbedderUnavailable, TextsRefused } from './embedder.ts';

/** A question embedder over an embedder that calls `answer`, with its clock and the logged lines. */
function embedding(answer: (text: string, signal: AbortSignal) => Promise<Float32Array>) {
  const asked: string[] = [];
  let time = 0;
  let logged = '';
  const embedder: Embedder = {
    ...{ name: 'test', dimensions: 2, limits: { texts: 32, characters: 1_000 } },
    async embed(texts, signal) {
      asked.push(...texts);
      return Promise.all(texts.map((text) => answer(text, signal)));
    },
  };
  const logger = pino({}, { write: (line: string) => void (logged += line) });
  const embed = questionEmbedder(embedder, { withinMs: 20, logger, now: () => time });
  return { embed, asked, pass: (ms: number) => (time += ms), log: () => logged };
}

const vector = Float32Array.of(0.6, 0.8);

test('a question is embedded once, for all readers', async () => {
  const { embed, asked } = embedding(async () => vector);
  expect(await embed('Rotate a key?')).toEqual({ model: 'test', vector });
  expect(await embed('  Rotate a key?\n')).toEqual({ model: 'test', vector });
  expect(await embed('   ')).toBeUndefined();
  expect(await embed('x'.repeat(100_000))).toBeDefined();
  expect(asked.map(({ length }) => length)).toEqual([13, 2_000]);
});

test('a call that takes too long is aborted, and the next questions do not wait', async () => {
  const { embed, asked, log, pass } = embedding(
    (_text, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
  );
  expect(await embed('slow zyxomma')).toBeUndefined();
  expect(await embed('another')).toBeUndefined();
  expect(asked).toEqual(['slow zyxomma']);
  expect(log()).toContain('more than 20 ms');
  expect(log()).not.toContain('zyxomma');
  pass(1_000);
  expect(await embed('another')).toBeUndefined();
  expect(asked).toHaveLength(2);
});

test.each([
  ['away', new EmbedderUnavailable('away'), 1_000],
  ['busy, with a delay', new EmbedderUnavailable('busy', 30_000), 30_000],
  ['refused', new EmbedderRefused('wrong key'), 60_000],
  ['a mistake of ours', new TypeError('oops'), 1_000],
])('while it is %s, questions are not sent, and it is tried again later', async (_what, error, pauseMs) => {
  let isWell = false;
  const { embed, asked, pass } = embedding(async () => {
    if (!isWell) throw error;
    return vector;
  });
  expect(await embed('a')).toBeUndefined();
  isWell = true;
  pass(pauseMs - 1);
  expect(await embed('b')).toBeUndefined();
  pass(1);
  expect(await embed('c')).toBeDefined();
  expect(asked).toEqual(['a', 'c']);
});

test('a question that the model refuses does not delay others', async () => {
  const { embed } = embedding(async (text) => {
    if (text === 'odd') throw new TextsRefused('not this one');
    return vector;
  });
  expect(await embed('odd')).toBeUndefined();
  expect(await embed('even')).toBeDefined();
});
