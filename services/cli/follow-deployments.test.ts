import { createServer, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DeploymentView } from '#shared/interfaces/http/sites.ts';
import { type LoopbackServer, onLoopback } from '../../test/support/on-loopback.ts';
import { apiClient } from './api-client.ts';
import { followDeployments } from './follow-deployments.ts';

const view = (id: number, status: DeploymentView['status']): DeploymentView => ({
  ...{ id, status, contentVersion: `cv_${'1'.repeat(32)}`, jobId: `se_${'x'.repeat(22)}`, cause: 'published' },
  ...{ requestedAt: '2026-03-01T10:00:00.000Z', canRollBack: false },
});
const all = (...deployments: DeploymentView[]) =>
  `event: deployments\ndata: ${JSON.stringify({ domain: 'docs', deployments })}\n\n`;
const one = (deployment: DeploymentView) => `event: deployment\ndata: ${JSON.stringify(deployment)}\n\n`;
const gone = (response: ServerResponse) =>
  response
    .writeHead(404)
    .end(JSON.stringify({ error: 'The domain "docs" has no site.', code: 'not_found', requestId: 'r' }));

let answers: ((response: ServerResponse) => unknown)[] = [];
let server: LoopbackServer;

beforeAll(async () => {
  server = await onLoopback(createServer((_, response) => void (answers.shift() ?? gone)(response)));
});
afterAll(() => server.close());

async function follow(): Promise<string[]> {
  const seen: string[] = [];
  for await (const news of followDeployments(apiClient(server.url, 'k'), '/v1/domains/docs/deployments')) {
    const views = news.kind === 'all' ? news.list.deployments : [news.deployment];
    seen.push(`${news.kind}: ${views.map(({ id, status }) => `${id} ${status}`).join(', ')}`);
  }
  return seen;
}

test('a connection that breaks is made again, nothing is told twice, and the closed site ends it', async () => {
  answers = [
    (response) => response.write(all(view(1, 'live')) + one(view(2, 'running')), () => response.destroy()),
    (response) => response.end(all(view(3, 'running'), view(2, 'live'), view(1, 'live')) + one(view(2, 'live'))),
    (response) => response.end(`: still here\n\n${all(view(3, 'ended'), view(2, 'live'), view(1, 'live'))}`),
  ];
  expect(await follow()).toEqual(['all: 1 live', 'one: 2 running', 'one: 2 live', 'one: 3 running', 'one: 3 ended']);
});

test('a domain without a site is a failure at once', async () => {
  answers = [];
  await expect(follow()).rejects.toMatchObject({ code: 'not_found', message: 'The domain "docs" has no site.' });
});
