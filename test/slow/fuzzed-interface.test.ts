import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiClient } from '#services/cli/api-client.ts';
import type { OpenApiDocument } from '#services/gateway/openapi.ts';
import type { CreatedApiKey } from '#shared/interfaces/http/directory.ts';
import { generateApiKey } from '#shared/http/api-key.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { answerText } from '../support/answer-text.ts';
import { type Description, readDescription } from '../support/described-answers.ts';
import { type DescribedRequest, describedRequests } from '../support/described-requests.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { tinyProject } from '../support/docs-projects.ts';
import { startInstallation, type TestInstallation } from '../support/start-installation.ts';

const minuteMs = 60_000;
const requests = 5_000;
const atOnce = 16;
/** Time after which a request counts as hanging. */
const answerWithinMs = 30_000;
/** `FUZZ_SEED` repeats the same requests. */
const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));

describeWithServers(['nats-server'], 'the description of a running installation', () => {
  let harness: TestInstallation;
  let document: OpenApiDocument;
  let description: Description;
  let archive: Uint8Array<ArrayBuffer>;
  let credentials: Record<string, string>;
  let known: Record<string, string[]>;

  beforeAll(async () => {
    const unlimited = [
      'ASSISTANT_PER_HOUR',
      'ASSISTANT_PER_ADDRESS_PER_DAY',
      'PUBLICATIONS_PER_HOUR',
      'LINKS_PER_HOUR',
    ];
    unlimited.push('CHANGES_PER_HOUR', 'OPERATOR_PER_HOUR', 'KEYS_PER_HOUR');
    harness = await startInstallation({
      processes: 'shared',
      // The exports keep their limit: each one takes seconds of this machine.
      environment: {
        ...Object.fromEntries(unlimited.map((name) => [`BINDERY_LIMIT_${name}`, '1000000'])),
        // An organization gets half of the places, and every request may be an upload.
        BINDERY_PUBLISHER_UPLOADS: String(2 * atOnce),
      },
    });
    const { installation, adminKey, assistantKey, organization, domain, admin } = harness;
    archive = await tinyProject();
    const content = `/v1/domains/${domain}/content`;
    const { contentVersion } = await admin.json<{ contentVersion: string }>(content, {
      method: 'PUT',
      body: new Blob([archive]).stream(),
      headers: { 'content-type': 'application/gzip' },
    });
    const { job } = await harness.exportSite();
    const spare = await admin.json<CreatedApiKey>('/v1/api-keys', { method: 'POST', json: { kind: 'assistant' } });
    credentials = {
      admin: adminKey,
      assistant: assistantKey,
      operator: installation.secrets.operatorToken,
      none: '',
      unknown: generateApiKey('admin'),
      junk: 'junk',
    };
    known = {
      domain: [domain],
      org: [organization],
      id: [spare.id],
      jobId: [job.jobId],
      contentVersion: [contentVersion],
      path: ['quickstart'],
      'X-Reader-Address': ['192.0.2.1'],
    };
    document = await apiClient(installation.baseUrl, '').json<OpenApiDocument>('/openapi.json');
    description = readDescription(document);
  }, 3 * minuteMs);
  afterAll(() => harness?.stop());

  /** Problems of the answer to a request. */
  async function problemsOf(request: DescribedRequest, statuses: Record<string, number>): Promise<string[]> {
    const operation = description.operations.get(request.operationId);
    if (operation === undefined) throw new Error(`There is no ${request.operationId}.`);
    const headers = new Headers(request.headers);
    const key = credentials[request.credential];
    if (key) headers.set('authorization', `Bearer ${key}`);
    try {
      const answer = await fetch(new URL(request.path, harness.installation.baseUrl), {
        method: request.method,
        headers,
        redirect: 'manual',
        signal: AbortSignal.timeout(answerWithinMs),
        ...(request.body === undefined ? {} : { body: request.body }),
      });
      const { status } = answer;
      const body = await answerText(answer);
      statuses[status] = (statuses[status] ?? 0) + 1;
      const problems = description.problemsOfAnswer(operation, { status, headers: answer.headers, body });
      if (status >= 500) problems.push(`${status} ${body}`);
      if (answer.ok) problems.push(...unfit(operation, request));
      return problems;
    } catch (error) {
      return [`no answer: ${String(error)}`];
    }
  }

  /** Violations of the description in a body that was accepted. */
  function unfit({ requestBody }: { requestBody?: OpenApiBody }, { body }: DescribedRequest): string[] {
    const schema = requestBody?.content['application/json']?.schema;
    if (schema === undefined || (body === undefined && requestBody?.required === false)) return [];
    return description.problemsOf(schema, JSON.parse(String(body))).map((problem) => `took a body whose ${problem}`);
  }

  test(
    `${requests} valid and invalid requests are all answered as described`,
    async () => {
      const arbitrary = describedRequests(document, {
        credentials: Object.keys(credentials),
        credentialOf: ({ security }) =>
          ({ adminKey: 'admin', assistantKey: 'assistant', operatorToken: 'operator' })[
            Object.keys(security[0] ?? {})[0] ?? ''
          ] ?? 'none',
        known,
        archive,
      });
      const statuses: Record<string, number> = {};
      const reached = new Set<string>();
      const found: { request: DescribedRequest; problems: string[] }[] = [];
      await inParallel(fc.sample(arbitrary, { seed, numRuns: requests }), atOnce, async (request) => {
        reached.add(request.operationId);
        const problems = await problemsOf(request, statuses);
        if (problems.length > 0) found.push({ request, problems });
      });
      console.log(`seed ${seed}: ${JSON.stringify(statuses)}`);
      const shown = found.slice(0, 20).map(({ request: { body, ...request }, problems }) => ({
        ...request,
        body: String(body).slice(0, 500),
        problems: problems.map((problem) => problem.slice(0, 300)),
      }));
      expect([`seed ${seed}`, found.length, shown]).toEqual([`seed ${seed}`, 0, []]);
      expect([...description.operations.keys()].filter((id) => !reached.has(id))).toEqual([]);
      // Enough requests were valid to reach the operations.
      expect(statuses[200] ?? 0).toBeGreaterThan(requests / 5);
    },
    10 * minuteMs,
  );
});

type OpenApiBody = NonNullable<Parameters<Description['problemsOfAnswer']>[0]['requestBody']>;
