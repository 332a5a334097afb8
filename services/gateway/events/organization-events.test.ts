import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import { siteAggregate, type SiteEvent } from '#shared/aggregates/site/site.ts';
import { type OrganizationEvent, organizationEventSchema } from '#shared/interfaces/http/events.ts';
import { handleCommand } from '#shared/messaging/log/handle-command.ts';
import { exportLogSubject, siteLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  type TestOrganization,
} from '../../../test/support/gateway-harness.ts';
import { exportCommit, exportState } from '../../../test/support/make-commit.ts';
import { waitUntil } from '../../../test/support/wait-until.ts';

let gateway: GatewayHarness;
let acme: TestOrganization;
let globex: TestOrganization;

beforeEach(async () => {
  gateway = await gatewayHarness();
  acme = await createOrganization(gateway);
  globex = await createOrganization(gateway, 'Globex');
  await gateway.app.listen({ host: '127.0.0.1', port: 0 });
  await gateway.bus.projected();
});

afterEach(() => gateway.close());

const jobId = (digit: string) => `se_${digit.repeat(22)}`;
const contentVersion = `cv_${'1'.repeat(32)}`;

/** Stores the next state of a job. */
async function job(organization: string, id: string, changes: Partial<ExportJobState> = {}): Promise<void> {
  const previous = await gateway.bus.exports.last(exportLogSubject(organization, id));
  const state = { ...exportState({ organization, jobId: id }), ...previous?.commit.data.state, ...changes };
  await gateway.bus.exports.append(exportCommit(state, previous), { sequence: previous?.sequence ?? 0 });
  await gateway.bus.projected();
}

async function site(organization: string, events: SiteEvent[]): Promise<void> {
  await handleCommand({ log: gateway.bus.sites, clock: gateway.clock, random: randomBase62 }, siteAggregate, {
    subject: siteLogSubject(organization, 'docs'),
    decide: () => events,
    origin: { source: 'test', actor: { kind: 'service', id: 'deployer' }, causationId: 'c', correlationId: 'c' },
  });
  await gateway.bus.projected();
}

const deployment = (organization: string, number: number): SiteEvent[] => {
  const of = { organization, domain: 'docs', deployment: number };
  return [
    {
      type: 'DeploymentRequested',
      version: 1,
      data: { ...of, contentVersion, jobId: jobId('d'), cause: 'published' },
    },
    { type: 'DeploymentLive', version: 1, data: { ...of, sha256: 'a'.repeat(64), sizeBytes: 1 } },
  ];
};

/** Events of the organization of a key, in the order in which they come. */
async function follow(key: string) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const { port } = gateway.app.server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/v1/events`, { headers: bearer(key), signal: stop.signal });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  const events: OrganizationEvent[] = [];
  const ended = (async () => {
    let text = '';
    for await (const part of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const messages = (text + part).split('\n\n');
      text = messages.pop() ?? '';
      for (const message of messages) {
        const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(message) ?? [];
        if (data !== undefined) events.push(organizationEventSchema.parse({ event, data: JSON.parse(data) }));
      }
    }
  })().catch(() => 'cut');
  await waitUntil(() => events.length > 0);
  return { events, ended, stop: () => stop.abort() };
}

const told = (events: readonly OrganizationEvent[]): string[] =>
  events.map((each) => {
    if (each.event === 'export') return `${each.data.jobId.slice(0, 4)} ${each.data.status} ${each.data.progress}`;
    if (each.event === 'deployment') return `${each.data.deployment.id} ${each.data.deployment.status}`;
    return each.event;
  });

test('follows the exports and deployments of the organization, and none of another one', async () => {
  // Earlier changes are not sent.
  await job(acme.id, jobId('0'));
  await site(acme.id, [
    {
      type: 'SiteOpened',
      version: 1,
      data: {
        organization: acme.id,
        domain: 'docs',
        name: 'acme',
        hosts: [],
        previews: true,
        organizationPlan: 'enterprise',
      },
    },
  ]);
  const { events } = await follow(acme.adminKey);
  const other = await follow(globex.adminKey);
  await job(acme.id, jobId('1'));
  await waitUntil(() => events.length === 2);
  await job(globex.id, jobId('2'));
  await job(acme.id, jobId('1'), { phase: 'rendering', progress: 40 });
  await waitUntil(() => events.length === 3);
  await site(acme.id, deployment(acme.id, 1));
  await waitUntil(() => events.length === 4);
  await site(acme.id, deployment(acme.id, 2));
  await waitUntil(() => events.length === 6 && other.events.length === 2);
  expect(told(events)).toEqual(['following', 'se_1 queued 0', 'se_1 running 40', '1 live', '1 replaced', '2 live']);
  expect(told(other.events)).toEqual(['following', 'se_2 queued 0']);
});

test('one subscription of the process serves all listeners', async () => {
  const jobs = vi.spyOn(gateway.bus.liveUpdates, 'onJobStatus');
  const sites = vi.spyOn(gateway.bus.readModels.sites, 'watch');
  const followers = await Promise.all(Array.from({ length: 20 }, () => follow(acme.adminKey)));
  await job(acme.id, jobId('1'));
  await waitUntil(() => followers.every(({ events }) => events.length === 2));
  expect(jobs).not.toHaveBeenCalled();
  expect(sites.mock.calls.length).toBeLessThanOrEqual(1);
});

test('HEAD follows nothing', async () => {
  const watch = vi.spyOn(gateway.context.jobStatusFeed, 'watchAll');
  const answer = await gateway.app.inject({ method: 'HEAD', url: '/v1/events', headers: bearer(acme.adminKey) });
  expect([answer.statusCode, answer.headers['content-type'], answer.body]).toEqual([200, 'text/event-stream', '']);
  expect(watch).not.toHaveBeenCalled();
});

test('ends with the key that opened it', async () => {
  const made = await gateway.app.inject({
    method: 'POST',
    url: '/v1/api-keys',
    headers: bearer(acme.adminKey),
    payload: { kind: 'admin', name: 'short', scopes: ['read'] },
  });
  await gateway.bus.projected();
  const { ended } = await follow(made.json().key);
  await gateway.app.inject({
    method: 'DELETE',
    url: `/v1/api-keys/${made.json().id}`,
    headers: bearer(acme.adminKey),
  });
  await gateway.bus.projected();
  expect(await ended).toBe('cut');
});
