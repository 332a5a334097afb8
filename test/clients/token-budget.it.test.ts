import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { describeWithServers } from '../support/describe-with-servers.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  type TestOrganization,
} from '../support/gateway-harness.ts';
import { type RedisServer, startRedis } from '../support/start-redis.ts';
import { type AssistantHarness, scriptedModel, startAssistantHarness } from './assistant-harness.ts';

const usage: LanguageModelV4Usage = {
  inputTokens: { total: 200, noCache: 200, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 50, text: 50, reasoning: undefined },
};
const reportsNothing: LanguageModelV4Usage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};
type Script = (signal: AbortSignal) => AsyncIterable<LanguageModelV4StreamPart>;

const says = (reported = usage): Script =>
  async function* () {
    yield { type: 'stream-start', warnings: [] };
    yield { type: 'text-start', id: '1' };
    yield { type: 'text-delta', id: '1', delta: 'Press it.' };
    yield { type: 'text-end', id: '1' };
    yield { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage: reported };
  };
const searches: Script = async function* () {
  yield { type: 'stream-start', warnings: [] };
  yield { type: 'tool-call', toolCallId: 'c1', toolName: 'search', input: '{"query":"export"}' };
  yield { type: 'finish', finishReason: { unified: 'tool-calls', raw: 'tool_calls' }, usage };
};
/** Begins an answer and continues until the request is aborted. */
const neverEnds: Script = async function* (signal) {
  yield { type: 'stream-start', warnings: [] };
  yield { type: 'text-start', id: '1' };
  yield { type: 'text-delta', id: '1', delta: 'Half an ' };
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
};

let redis: RedisServer | undefined;
/** Behaviour of the model for each call; the last one is repeated. */
let scripts: Script[];
let assistant: AssistantHarness;
const gateways: GatewayHarness[] = [];

function answersWithinBudgets({ isShared }: { isShared: boolean }): void {
  beforeAll(async () => {
    assistant = await startAssistantHarness(
      scriptedModel((signal) => ((scripts.length > 1 ? scripts.shift() : scripts[0]) ?? says())(signal)),
    );
  });
  afterEach(async () => {
    for (const gateway of gateways.splice(0)) await gateway.close();
  });
  afterAll(() => assistant.close());

  type Door = { gateway: GatewayHarness; url: string; acme: TestOrganization };

  async function open(budget: string): Promise<Door> {
    scripts = [says()];
    const gateway = await gatewayHarness({
      BINDERY_ASSISTANT_URL: assistant.url,
      BINDERY_LIMIT_TOKENS_PER_DAY: budget,
      ...(redis === undefined ? {} : { BINDERY_REDIS_URL: redis.url }),
    });
    gateways.push(gateway);
    const acme = await createOrganization(gateway, 'Acme');
    return { gateway, url: await gateway.app.listen({ host: '127.0.0.1', port: 0 }), acme };
  }

  /** Time of a test, an hour before the end of a day. Each test has another day, because counts in Redis outlive a test. */
  let day = 0;
  const onNewDay = (...doors: Door[]) => {
    day += 1;
    for (const { gateway } of doors) gateway.clock.time = new Date(Date.UTC(2026, 3, day, 23));
  };

  const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'How do I rotate an API key?' }] }];
  const ask = ({ url, acme }: Door, path = '/discovery/v2/assistant/docs/message', init: RequestInit = {}) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { ...bearer(acme.assistantKey), 'content-type': 'application/json' },
      body: JSON.stringify(path.includes('/search/') ? { query: 'keys' } : { fp: 'reader-1', messages }),
      ...init,
    });
  /** Reads an answer to its end, and returns the remaining budget before it. */
  async function asked(door: Door, path?: string): Promise<number> {
    const answer = await ask(door, path);
    expect(answer.status).toBe(200);
    await answer.text();
    expect(answer.headers.get('x-bindery-prompt-tokens')).toBeNull();
    return leftIn(answer);
  }
  const leftIn = (answer: Response) => Number(/"tokens";r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1]);

  test('the reported tokens are counted; when the budget is used up, questions are refused until midnight UTC', async () => {
    const door = await open('400');
    onNewDay(door);
    expect(await asked(door)).toBe(400);
    expect(await asked(door, '/discovery/v1/assistant/docs/message')).toBe(150);
    for (const path of ['/discovery/v2/assistant/docs/message', '/discovery/v1/assistant/docs/message']) {
      const refused = await ask(door, path);
      expect([refused.status, await refused.json()]).toMatchObject([
        429,
        {
          code: 'rate_limited',
          error:
            'The organization has spent its 400 model tokens of today. Ask again after midnight UTC, in 3600 seconds.',
        },
      ]);
      expect(refused.headers.get('retry-after')).toBe('3600');
      expect(refused.headers.get('ratelimit')).toMatch(/"assistant";r=\d+;t=\d+, "tokens";r=0;t=3600$/);
      expect(refused.headers.get('ratelimit-policy')).toMatch(/, "tokens";q=400;w=86400$/);
    }
    // The model is not called.
    expect((await ask(door, '/discovery/v1/search/docs')).status).toBe(200);
    const globex = { ...door, acme: await createOrganization(door.gateway, 'Globex') };
    expect(await asked(globex)).toBe(400);
    onNewDay(door);
    expect(await asked(door)).toBe(400);
  });

  test('each call to the model counts, also one that only searches', async () => {
    const door = await open('10000');
    onNewDay(door);
    scripts = [searches, says()];
    await asked(door);
    expect(await asked(door)).toBe(10_000 - 500);
  });

  test('an abandoned answer, or one without reported tokens, costs about its prompt', async () => {
    const door = await open('100000');
    onNewDay(door);
    scripts = [neverEnds];
    const reader = (await ask(door)).body!.getReader();
    let seen = '';
    while (!seen.includes('Half')) seen += Buffer.from((await reader.read()).value ?? []).toString();
    await reader.cancel();
    scripts = [says(reportsNothing)];
    await expect.poll(() => leftOf(door)).toBeLessThan(100_000);
    const left = await leftOf(door);
    expect(left).toBeGreaterThan(98_000);
    await asked(door);
    const after = await leftOf(door);
    const answered = 3;
    expect(left - after).toBe(100_000 - left + answered);
  });

  const leftOf = async ({ gateway }: Door): Promise<number> => {
    const key = `acme/${gateway.clock.time.toISOString().slice(0, 10)}`;
    const limit = { name: 'tokens', requests: 100_000, windowSeconds: 86_400 };
    return (await gateway.context.rateLimiter.spend(limit, key, 0)).remaining;
  };

  test('a plan without a budget has none', async () => {
    const door = await open('free=10,pro=10');
    onNewDay(door);
    for (let times = 0; times < 2; times += 1) expect(await asked(door)).toBeNaN();
  });

  if (!isShared) return;
  test('all gateways share the counts, which survive a restart of all', async () => {
    const [one, two] = [await open('400'), await open('400')];
    onNewDay(one, two);
    expect(await asked(one)).toBe(400);
    expect(await asked(two)).toBe(150);
    expect((await ask(one)).status).toBe(429);
    for (const gateway of gateways.splice(0)) await gateway.close();
    const again = await open('400');
    again.gateway.clock.time = one.gateway.clock.time;
    expect((await ask(again)).status).toBe(429);
  });

  test('while Redis is down, a gateway uses its share, and no request waits', async () => {
    const door = await open('1000');
    onNewDay(door);
    await redis?.kill();
    // This gateway knows of two live gateways.
    for (let times = 0; times < 2; times += 1) expect((await ask(door)).status).toBe(200);
    await expect.poll(async () => (await ask(door)).status).toBe(429);
    await redis?.restart();
    await expect.poll(async () => (await ask(door)).status).toBe(200);
  });
}

describe('budgets of model tokens, in memory', () => answersWithinBudgets({ isShared: false }));

describeWithServers(['redis-server'], 'budgets of model tokens, in Redis', () => {
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(async () => {
    await redis?.stop();
    redis = undefined;
  });
  answersWithinBudgets({ isShared: true });
});
