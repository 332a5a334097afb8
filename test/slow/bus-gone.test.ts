import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Installation } from '#infra/supervisor/run-installation.ts';
import { serviceNames } from '#infra/supervisor/services.ts';
import { apiClient } from '#services/cli/api-client.ts';
import type { OpenApiDocument, Operation } from '#services/gateway/openapi.ts';
import { pause, takeNatsAway } from '../support/chaos/fault-injection.ts';
import { readDescription } from '../support/described-answers.ts';
import { answerText } from '../support/answer-text.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { tinyProject } from '../support/docs-projects.ts';
import { startInstallation, type TestInstallation } from '../support/start-installation.ts';

const outageMs = 30_000;
const mostOpenMs = 2_000;
/** The health of the services is answered after their checks, which have two seconds. */
const mostHealthMs = 3_000;
const askAgainAfterMs = 1_000;
const minuteMs = 60_000;

/** Operations that need the bus, in an order in which their examples succeed. */
const changing = ['publishContent', 'startExport', 'createApiKey', 'answerQuestion'];

/** Operations with a fixed limit of requests per hour, which the questions of 30 seconds exceed. */
const limited = new Set(['startVerification', 'startInstallationVerification']);

type Asked = { id: string; url: URL; init: RequestInit };
type Answer = { id: string; status: number; retryAfter: string | null; openMs: number };

describeWithServers(['nats-server'], 'every route while NATS is gone for 30 seconds', () => {
  let harness: TestInstallation;
  let questions: Asked[];

  beforeAll(async () => {
    const limits = [
      'CHANGES_PER_HOUR',
      'OPERATOR_PER_HOUR',
      'KEYS_PER_HOUR',
      'STARTS_PER_HOUR',
      'PUBLICATIONS_PER_HOUR',
    ];
    harness = await startInstallation({
      processes: 'shared',
      environment: Object.fromEntries(limits.map((name) => [`BINDERY_LIMIT_${name}`, '100000'])),
    });
    const { baseUrl } = harness.installation;
    const description = readDescription(await apiClient(baseUrl, '').json<OpenApiDocument>('/openapi.json'));
    const archive = await tinyProject();
    questions = [...description.operations].map(([id, operation]) => ({
      id,
      ...exampleOf(operation, harness, archive),
    }));
  }, 3 * minuteMs);
  afterAll(() => harness?.stop());

  async function ask({ id, url, init }: Asked): Promise<Answer> {
    const askedAt = performance.now();
    const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(minuteMs) });
    await answerText(answer);
    const openMs = Math.round(performance.now() - askedAt);
    return { id, status: answer.status, retryAfter: answer.headers.get('retry-after'), openMs };
  }

  const processes = () =>
    Object.fromEntries(serviceNames.map((name) => [name, harness.installation.pids(name).toSorted((a, b) => a - b)]));

  test('the examples of changing operations succeed before, so that a later failure is due to the outage', async () => {
    for (const id of changing) {
      const { status } = await ask(questions.find((question) => question.id === id) as Asked);
      expect([id, status]).toEqual([id, expect.toBeOneOf([200, 201, 202])]);
    }
  });

  test.each([
    ['hangs', (installation: Installation) => pause(installation.pids('nats-server'))],
    ['is killed and cannot be started', takeNatsAway],
  ])(
    'NATS %s: no request takes more than 2 s, each refusal has Retry-After, and everything recovers automatically',
    async (how, take) => {
      const before = new Map<string, number>();
      // Each question is asked twice, because its second answer is the same as all later ones, even for operations that succeed only once.
      for (const question of [...questions, ...questions]) before.set(question.id, (await ask(question)).status);
      const running = processes();

      const outage = await take(harness.installation);
      const isOver = new AbortController();
      const answers: Answer[] = [];
      const asking = questions.map(async (question) => {
        while (!isOver.signal.aborted) {
          answers.push(await ask(question));
          await delay(askAgainAfterMs, undefined, { signal: isOver.signal }).catch(() => {});
        }
      });
      // The outage itself is under test: it has a fixed length and waits for nothing.
      await delay(outageMs);
      isOver.abort();
      // The last requests end before the bus is back.
      await Promise.all(asking);
      await outage.resume();

      const refused = answers.filter(({ status }) => status === 503);
      const slowest = answers.reduce((a, b) => (a.openMs > b.openMs ? a : b));
      console.log(
        `NATS ${how}: ${answers.length} requests to ${questions.length} routes, ${refused.length} answered 503; the longest was open for ${slowest.openMs} ms (${slowest.id})`,
      );
      const limitOf = (id: string) => (id === 'listServices' ? mostHealthMs : mostOpenMs);
      expect(answers.filter(({ id, openMs }) => openMs > limitOf(id))).toEqual([]);
      expect(refused.filter(({ retryAfter }) => !(Number(retryAfter) > 0))).toEqual([]);
      const expectedOf = (id: string) => [before.get(id), ...(limited.has(id) ? [429] : [])];
      expect(
        answers.filter(({ id, status }) => (status >= 500 ? status !== 503 : !expectedOf(id).includes(status))),
      ).toEqual([]);
      // These operations need the bus, so the gateway must have refused them.
      for (const id of [...changing, 'getExport', 'searchPassages'])
        expect(refused.map((answer) => answer.id)).toContain(id);

      for (const question of questions)
        await expect
          .poll(async () => (await ask(question)).status, { timeout: minuteMs, interval: 200 })
          .toBeOneOf(expectedOf(question.id));
      expect(processes()).toEqual(running);
    },
    3 * minuteMs,
  );
});

/** The example request of an operation, in the domain and organization of this installation, with a valid key. */
function exampleOf(
  { path, method, parameters, requestBody, security }: Operation & { method: string; path: string },
  { installation, adminKey, assistantKey, domain, organization }: TestInstallation,
  archive: Uint8Array<ArrayBuffer>,
): Omit<Asked, 'id'> {
  const ids: Record<string, string> = { domain, org: organization };
  const valueOf = (name: string) => ids[name] ?? String(parameters.find((each) => each.name === name)?.example);
  const url = new URL(
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => valueOf(name)),
    installation.baseUrl,
  );
  const keys: Record<string, string> = { adminKey, assistantKey, operatorToken: installation.secrets.operatorToken };
  const [scheme] = Object.keys(security[0] ?? {});
  const headers = new Headers(scheme === undefined ? {} : { authorization: `Bearer ${keys[scheme]}` });
  for (const { name, in: place, example } of parameters) {
    if (example === undefined) continue;
    if (place === 'query') url.searchParams.set(name, valueOf(name));
    if (place === 'header') headers.set(name, valueOf(name));
  }
  const [[type, content] = []] = Object.entries(requestBody?.content ?? {});
  if (type === undefined) return { url, init: { method, headers } };
  headers.set('content-type', type);
  const example = content?.example as Record<string, unknown> | undefined;
  if (example === undefined) return { url, init: { method, headers, body: archive } };
  // The body names the existing domain, unless the operation adds a domain.
  const named = 'domain' in example && !path.endsWith('/domains') ? { domain } : {};
  return { url, init: { method, headers, body: JSON.stringify({ ...example, ...named }) } };
}
