import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Usage } from '#shared/interfaces/http/audit.ts';
import { type Insights, insightsSchema, questionsSchema } from '#shared/interfaces/http/insights.ts';
import { systemClock } from '#shared/runtime/time-and-ids.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  type TestOrganization,
} from '../support/gateway-harness.ts';
import { assistantBehind, readEvents, scriptedModel, usage } from './assistant-harness.ts';

// These tests read an organization's insights into its readers' questions through the gateway, from the real assistant and projector.

let gateway: GatewayHarness;
let acme: TestOrganization;
let other: TestOrganization;

const open = async (model?: Parameters<typeof assistantBehind>[0]) => {
  gateway = await gatewayHarness({}, assistantBehind(model));
  // The assistant has the time of this machine.
  gateway.clock.time = systemClock.now();
  acme = await createOrganization(gateway);
  other = await createOrganization(gateway, 'Other');
};
afterEach(() => gateway.close());

const post = (path: string, payload: object, key = acme.assistantKey) =>
  gateway.app.inject({ method: 'POST', url: path, headers: bearer(key), payload });
const get = (path: string, key = acme.adminKey) => gateway.app.inject({ url: path, headers: bearer(key) });

async function ask(text: string, threadId?: string): Promise<{ threadId: string; messageId: string }> {
  const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text }] }];
  const answer = await post('/discovery/v2/assistant/docs/message', { fp: 'reader-1', messages, threadId });
  expect(answer.statusCode).toBe(200);
  const { events } = await readEvents(new Response(answer.body));
  return { threadId: String(answer.headers['x-thread-id']), messageId: String(events[0]?.messageId) };
}

async function insights(query = '', key = acme.adminKey): Promise<Insights> {
  await gateway.bus.projected();
  const answer = await get(`/v1/assistant/docs/insights${query}`, key);
  expect(answer.statusCode).toBe(200);
  return insightsSchema.parse(answer.json());
}
async function used(): Promise<Usage['months'][number]['total']> {
  await gateway.bus.projected();
  const { months } = (await get('/v1/usage')).json() as Usage;
  return months[0]?.total ?? {};
}
/** The sums of all domains are those of the insights of the only one. */
async function expectSameQuestions(of: Insights): Promise<void> {
  const { questions, ratings, days, from, to } = of;
  const all = questionsSchema.parse((await get('/v1/questions')).json());
  expect(all).toMatchObject({ from, to, questions, ratings, days, domains: [{ domain: 'docs', questions, ratings }] });
}
const today = () => gateway.clock.time.toISOString().slice(0, 10);

describe('without a language model', () => {
  beforeEach(() => open());

  test('questions, answers and ratings are shown, and erased ones are not', async () => {
    const rotate = await ask('How do I rotate an API key?');
    await ask('How do I start an export job?', rotate.threadId);
    const invoice = await ask('Can penguins swim in zero gravity?');
    await ask('Penguins in zero gravity: can they swim?');
    for (const [rating, comment] of [
      ['up', null],
      ['down', 'It does not say where.'],
    ]) {
      const rated = await post('/discovery/v1/feedback/docs', { ...rotate, rating, comment });
      expect(rated.statusCode).toBe(200);
    }
    expect(await insights()).toEqual({
      domain: 'docs',
      agents: { calls: 0, tools: [], searches: 0, empty: 0, queries: [], remarks: [] },
      from: new Date(gateway.clock.time.getTime() - 29 * 86_400_000).toISOString().slice(0, 10),
      to: today(),
      questions: { total: 4, answered: 2, unanswered: 2, unfinished: 0 },
      ratings: { up: 0, down: 1 },
      unanswered: [
        {
          question: 'Penguins in zero gravity: can they swim?',
          count: 2,
          lastAskedAt: expect.stringContaining(today()),
          threadId: expect.stringMatching(/^th_/),
        },
      ],
      pages: [
        { path: '/guides/export', title: 'Static export', answers: 1, up: 0, down: 0 },
        { path: '/guides/keys', title: 'API keys', answers: 1, up: 0, down: 1 },
      ],
      ratedDown: [
        {
          question: 'How do I rotate an API key?',
          comment: 'It does not say where.',
          ...rotate,
          answeredAt: expect.stringContaining(today()),
        },
      ],
      days: [{ day: today(), questions: 4, unanswered: 2 }],
    });
    await expectSameQuestions(await insights());
    expect(await used()).toMatchObject({ questions: 4, tokens: 0 });

    const erased = await gateway.app.inject({
      method: 'DELETE',
      url: `/v1/assistant/docs/threads/${rotate.threadId}`,
      headers: bearer(acme.adminKey),
    });
    expect(erased.statusCode).toBe(204);
    const after = await insights();
    expect(after).toMatchObject({
      questions: { total: 2, unanswered: 2 },
      ratings: { down: 0 },
      pages: [],
      ratedDown: [],
    });
    await expectSameQuestions(after);
    expect(await used()).toMatchObject({ questions: 4 });
    // The stored documents do not have it either.
    const { insightAnswers, insightFigures } = gateway.bus.readModels;
    for (const store of [insightAnswers, insightFigures]) {
      for await (const page of store.pages()) {
        for (const text of [rotate.threadId, 'rotate', 'does not say', 'export'])
          expect(JSON.stringify(page)).not.toContain(text);
      }
    }
    expect(await insights(`?days=1&limit=1`)).toMatchObject({
      from: today(),
      unanswered: [{ threadId: expect.not.stringMatching(invoice.threadId) }],
    });
  });

  test('another organization and other keys do not see them', async () => {
    await ask('How do I rotate an API key?');
    expect(await insights('', other.adminKey)).toMatchObject({ questions: { total: 0 }, pages: [], days: [] });
    expect((await get('/v1/assistant/docs/insights', acme.assistantKey)).json()).toMatchObject({
      code: 'wrong_key_kind',
    });
    expect((await get('/v1/assistant/nowhere/insights')).statusCode).toBe(404);
  });

  test.each([
    ['days', '?days=0'],
    ['days', '?days=91'],
    ['days', '?days=1.5'],
    ['limit', '?limit=101'],
  ])('a wrong %s is a 400 that names it', async (path, query) => {
    const answer = await get(`/v1/assistant/docs/insights${query}`);
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ code: 'invalid_request', fields: [{ path }] });
  });
});

test('tokens that a language model reports are counted, and an answer that it breaks off is unfinished', async () => {
  let breaks = false;
  await open(
    scriptedModel(async function* () {
      yield { type: 'text-start', id: '1' };
      yield { type: 'text-delta', id: '1', delta: 'Press "Rotate".' };
      if (breaks) throw new Error('gone');
      yield { type: 'text-end', id: '1' };
      yield { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage };
    }),
  );
  await ask('How do I rotate an API key?');
  expect(await used()).toMatchObject({ questions: 1, tokens: 2 });
  breaks = true;
  await ask('And then?');
  expect((await insights()).questions).toEqual({ total: 2, answered: 1, unanswered: 0, unfinished: 1 });
});
