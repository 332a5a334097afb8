import pino from 'pino';
import { expect, test } from 'vitest';
import type { AnswerPart } from '#shared/contracts/answer-part.ts';
import { Unavailable } from '#shared/runtime/failures.ts';
import { answerSignals } from './answer-signals.ts';
import { keepAnswer } from './kept-answer.ts';
import { resumableBudget } from './resumable-budget.ts';

/** Limit of a message of the bus, as its configuration sets it. */
const mostPayloadBytes = 1024 * 1024;

/** An answer, and the parts that its bus has stored. */
async function kept({ budgetBytes = 100_000_000 } = {}) {
  const parts: AnswerPart[] = [];
  const bus = { disconnects: 0, append: async (_part: AnswerPart): Promise<void> => {} };
  const writtenAnswers = {
    async append(_key: unknown, part: AnswerPart): Promise<number> {
      await bus.append(part);
      return parts.push(part);
    },
    onSignal: () => () => {},
  };
  const answer = await keepAnswer(
    {
      bus: { writtenAnswers, traffic: () => ({ disconnects: bus.disconnects }) },
      signals: answerSignals({ writtenAnswers }),
      budget: resumableBudget(budgetBytes),
      logger: pino({ level: 'silent' }),
      unreadMs: 60_000,
    },
    {
      key: { organization: 'acme', domain: 'docs', chat: 'c', answerId: 'msg_1' },
      groups: [],
      client: 'ui',
      askedAtMs: 0,
    },
  );
  if (answer === undefined) throw new Error('the answer is not kept');
  const bytes = (): number => parts.reduce((sum, part) => sum + Buffer.byteLength(JSON.stringify(part)), 0);
  return { answer, parts, bus, bytes };
}

test.each([
  ['Chinese', '\u4e2d'],
  ['quotation marks', '"'],
  ['control characters', '\u0001'],
])(
  'an answer in %s is stored in parts that a message of the bus can hold, also when it is stored again',
  async (_name, sign) => {
    const { answer, parts, bus } = await kept();
    const event = `data: ${JSON.stringify({ delta: sign.repeat(1_000) })}\n\n`;
    for (let written = 0; written < 100; written += 1) answer.write(event, 1);
    await expect.poll(() => parts.length).toBeGreaterThan(1);
    bus.disconnects += 1;
    for (let written = 0; written < 300; written += 1) answer.write(event, 1);
    await answer.end();
    expect(Math.max(...parts.map((part) => Buffer.byteLength(JSON.stringify(part))))).toBeLessThan(mostPayloadBytes);
  },
);

test('the budget counts the bytes that are stored', async () => {
  const budgetBytes = 100_000;
  const { answer, bytes, parts } = await kept({ budgetBytes });
  for (let written = 1; written <= 60; written += 1) {
    answer.write(`data: ${'\u4e2d'.repeat(1_000)}\n\n`, 1);
    const before = parts.length;
    if (written <= 25) await expect.poll(() => parts.length).toBeGreaterThan(before);
  }
  await answer.end();
  expect(bytes()).toBeLessThan(budgetBytes);
  expect(parts.at(-1)?.state).toBe('open');
});

test('after an outage the whole is stored again, also if the first try fails', async () => {
  const { answer, parts, bus } = await kept();
  answer.write('one', 1);
  await expect.poll(() => parts.at(-1)?.text).toBe('one');
  bus.disconnects += 1;
  let failures = 1;
  bus.append = async ({ first, text }) => {
    if (first === 1 && text !== '' && failures-- > 0) throw new Unavailable('slow');
  };
  answer.write('two', 1);
  await expect
    .poll(() => parts.some(({ first, text }) => first === 1 && text === 'onetwo'), { timeout: 10_000 })
    .toBe(true);
  await answer.end();
  expect(parts.at(-1)).toMatchObject({ state: 'ended', first: 3, count: 0 });
});
