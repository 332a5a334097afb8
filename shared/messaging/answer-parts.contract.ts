import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AnswerPart, AnswerSignal } from '#shared/contracts/answer-part.ts';
import type { AnswerReading, AnswerWriting } from './answer-parts.ts';

export type AnswersUnderTest = { assistant: AnswerWriting; gateway: AnswerReading; stop(): Promise<void> };

export const chatOf = (chat: string) => ({ organization: 'acme', domain: 'docs', chat });

export const answerPart = (first: number, text: string, more: Partial<AnswerPart> = {}): AnswerPart => ({
  ...{ type: 'AnswerPart', version: 1, first, count: 1, text, state: 'open', groups: [], client: 'ui' },
  ...more,
});

/** Tests that every adapter of answers which can be resumed must pass. */
export function answersContract(name: string, open: () => Promise<AnswersUnderTest>): void {
  describe(`the contract of answers that can be resumed, kept by ${name}`, () => {
    let bus: AnswersUnderTest;
    beforeAll(async () => {
      bus = await open();
    });
    afterAll(() => bus?.stop());

    test('gives the parts of one answer in their order, and the newest of its chat', async () => {
      const [one, two] = ['msg_1', 'msg_2'].map((answerId) => ({ ...chatOf('a'), answerId }));
      if (one === undefined || two === undefined) throw new Error('there are two');
      const places: number[] = [];
      for (const [key, part] of [
        ...([1, 2, 3].map((first) => [one, answerPart(first, `one ${first}`)]) as [typeof one, AnswerPart][]),
        [two, answerPart(1, 'two', { state: 'ended', groups: ['staff'] })] as const,
        [{ ...chatOf('b'), answerId: 'msg_3' }, answerPart(1, 'of another chat')] as const,
      ])
        places.push(await bus.assistant.append(key, part));
      expect(places).toEqual(places.toSorted((a, b) => a - b));
      expect((await bus.gateway.parts(one)).map(({ text }) => text)).toEqual(['one 1', 'one 2', 'one 3']);
      const newest = await bus.gateway.newest(chatOf('a'));
      expect(newest).toMatchObject({ answerId: 'msg_2', part: { text: 'two', groups: ['staff'], state: 'ended' } });
      expect(newest?.storedAt).toBeInstanceOf(Date);
    });

    test('takes the answer of a chat that began last for its newest, also while earlier ones go on', async () => {
      const parts: [string, AnswerPart][] = [
        ['msg_20', answerPart(1, 'first')],
        ['msg_21', answerPart(1, 'second')],
        ['msg_20', answerPart(2, 'first, again')],
        ['msg_22', answerPart(1, 'third')],
        ['msg_22', answerPart(2, 'third, again')],
        ['msg_21', answerPart(2, 'second, again')],
        ['msg_20', answerPart(3, 'first, ended', { state: 'ended' })],
      ];
      for (const [answerId, part] of parts) await bus.assistant.append({ ...chatOf('g'), answerId }, part);
      expect(await bus.gateway.newest(chatOf('g'))).toMatchObject({
        answerId: 'msg_22',
        part: { text: 'third, again' },
      });
    });

    test('has nothing of a chat that is unknown, or of another organization or domain', async () => {
      await bus.assistant.append({ ...chatOf('c'), answerId: 'msg_4' }, answerPart(1, 'x'));
      for (const other of [
        chatOf('unknown'),
        { ...chatOf('c'), organization: 'other' },
        { ...chatOf('c'), domain: 'other' },
      ]) {
        expect(await bus.gateway.newest(other)).toBeUndefined();
        expect(await bus.gateway.parts({ ...other, answerId: 'msg_4' })).toEqual([]);
      }
    });

    test('gives more parts than the server sends in two answers', async () => {
      const key = { ...chatOf('long'), answerId: 'msg_5' };
      const count = 2_100;
      for (let first = 1; first <= count; first += 100)
        await Promise.all(
          Array.from({ length: 100 }, (_, at) => bus.assistant.append(key, answerPart(first + at, String(first + at)))),
        );
      expect((await bus.gateway.parts(key)).map(({ text }) => text)).toEqual(
        Array.from({ length: count }, (_, at) => String(at + 1)),
      );
    });

    test('sends new parts of an answer to those who follow it, and of no other', async () => {
      const key = { ...chatOf('d'), answerId: 'msg_6' };
      const seen: string[] = [];
      const unfollow = bus.gateway.onPart(key, ({ text }) => seen.push(text));
      // A subscription is in force when the server has answered a later request of its connection.
      await bus.gateway.isSeen('msg_6');
      await bus.assistant.append({ ...key, answerId: 'msg_7' }, answerPart(1, 'other'));
      for (const text of ['a', 'b']) await bus.assistant.append(key, answerPart(1, text));
      await expect.poll(() => seen).toEqual(['a', 'b']);
      unfollow();
    });

    test('remembers that an answer was read', async () => {
      expect(await bus.gateway.isSeen('msg_8')).toBe(false);
      await bus.gateway.markSeen('msg_8');
      expect([await bus.gateway.isSeen('msg_8'), await bus.gateway.isSeen('msg_9')]).toEqual([true, false]);
    });

    test('brings notes of a gateway to the assistants', async () => {
      const notes: [string, AnswerSignal][] = [];
      const stop = bus.assistant.onSignal((chat, signal) => notes.push([chat, signal]));
      await bus.assistant.append({ ...chatOf('e'), answerId: 'msg_10' }, answerPart(1, 'x'));
      bus.gateway.signal('e', { kind: 'left', answerId: 'msg_10' });
      bus.gateway.signal('f', { kind: 'stop' });
      await expect
        .poll(() => notes)
        .toEqual([
          ['e', { kind: 'left', answerId: 'msg_10' }],
          ['f', { kind: 'stop' }],
        ]);
      stop();
    });
  });
}
