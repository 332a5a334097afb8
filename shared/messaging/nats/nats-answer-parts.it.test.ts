import { afterAll, beforeAll, expect, test } from 'vitest';
import { answerPart, answersContract, chatOf } from '#shared/messaging/answer-parts.contract.ts';
import { Unavailable } from '#shared/runtime/failures.ts';
import { describeWithServers } from '../../../test/support/describe-with-servers.ts';
import { startTestBus, type TestBus } from '../../../test/support/start-bus.ts';
import type { BusOf } from '../bus.ts';

describeWithServers(['nats-server'], 'answers that can be resumed, over a real nats-server', () => {
  answersContract('NATS', async () => {
    const stand = await startTestBus();
    const [assistant, gateway] = await Promise.all([stand.connect('assistant'), stand.connect('gateway')]);
    return { assistant: assistant.writtenAnswers, gateway: gateway.resumedAnswers, stop: () => stand.stop() };
  });

  let stand: TestBus;
  let assistant: BusOf<'assistant'>;
  let gateway: BusOf<'gateway'>;
  const key = { ...chatOf('a'), answerId: 'msg_1' };
  beforeAll(async () => {
    stand = await startTestBus();
    [assistant, gateway] = await Promise.all([stand.connect('assistant'), stand.connect('gateway')]);
  });
  afterAll(() => stand.stop());

  test('outlast a restart of the server', async () => {
    const first = await assistant.writtenAnswers.append(key, answerPart(1, 'before'));
    await stand.server.kill('SIGTERM');
    await expect(assistant.writtenAnswers.append(key, answerPart(2, 'meanwhile'))).rejects.toThrow(Unavailable);
    await stand.server.restart();
    const append = () => assistant.writtenAnswers.append(key, answerPart(2, 'after')).catch(() => 0);
    await expect.poll(append).toBeGreaterThan(first);
    const parts = await gateway.resumedAnswers.parts(key);
    expect([parts[0]?.text, parts.at(-1)?.text]).toEqual(['before', 'after']);
  });

  test('begin anew when their stream was deleted, and say so', async () => {
    const admin = await stand.admin();
    const before = await assistant.writtenAnswers.append(key, answerPart(3, 'before'));
    await admin.streams.delete('ANSWERS');
    await expect(assistant.writtenAnswers.append(key, answerPart(4, 'meanwhile'))).rejects.toThrow(Unavailable);
    await stand.provision();
    expect(await assistant.writtenAnswers.append(key, answerPart(4, 'after'))).toBeLessThan(before);
    // The readiness of the service does not depend on them.
    await assistant.check();
  });
});
