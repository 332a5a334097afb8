import { siteAggregate, type SiteEvent } from '#shared/aggregates/site/site.ts';
import { siteModelKey } from '#shared/contracts/stored-objects.ts';
import { handleCommand } from '#shared/messaging/log/handle-command.ts';
import { siteLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { assistantBehind, page, testContent } from '../clients/assistant-harness.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  type TestOrganization,
} from './gateway-harness.ts';
import { siteModel } from './site-model.ts';

export type AgentGateway = GatewayHarness & { acme: TestOrganization; url: string };

const keysPage = [
  '# API keys',
  '',
  'Keys open the interface.',
  '',
  '## Rotate a key',
  '',
  'To rotate an API key, press "Rotate" on the keys page.',
  '',
  '### Old keys',
  '',
  'The old key works for one more day.',
  '',
  '## Delete a key',
  '',
  'Set `BINDERY_KEYS=none` and press "Delete".',
].join('\n');

const secretPage = '# Runbook\n\nThe signing secret is rotated by the staff every quarter.\n';

/** A gateway with an assistant over a few pages. Only the group `staff` may read one of them. `domain`: fields of the domain. */
export async function agentGateway(env: Record<string, string> = {}, domain: object = {}): Promise<AgentGateway> {
  const more = [
    page('guides/deleted', 'Deletion', 'Delete', 'delete', 'Delete a key to end its use.'),
    {
      ...page('guides/keys', 'API keys', 'Rotate a key', 'rotate-a-key', 'To rotate an API key, press "Rotate".'),
      markdown: keysPage,
    },
    {
      ...page('internal/secret', 'Runbook', '', '', 'The signing secret is rotated by the staff.', {
        groups: ['staff'],
      }),
      markdown: secretPage,
    },
  ];
  const gateway = await gatewayHarness(env, assistantBehind(undefined, { replacedPages: more }));
  const acme = await createOrganization(gateway, 'Acme', 'enterprise', domain);
  const model = siteModel([
    { path: 'guides/keys', text: keysPage },
    { path: 'guides/deleted' },
    { path: 'internal/secret', groups: ['staff'] },
  ]);
  const navigation = [
    { kind: 'group', title: 'Guides', hidden: false, children: ['guides/keys', 'guides/deleted'].map(pageNode) },
    { kind: 'group', title: 'Staff only', hidden: false, children: [pageNode('internal/secret')] },
  ];
  const stored = { ...model, contentVersion: testContent, navigation };
  const key = siteModelKey({ organization: acme.id, domain: 'docs', contentVersion: testContent });
  await gateway.objectStore.put(key, Buffer.from(JSON.stringify(stored)));
  const url = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
  return { ...gateway, acme, url };
}

const pageNode = (path: string) => ({ kind: 'page', path });

/** Opens a site of the domain `docs` with a live deployment. `body`: its settings. */
export async function openTestSite(
  { app, bus, clock }: Pick<GatewayHarness, 'app' | 'bus' | 'clock'>,
  { id, adminKey }: TestOrganization,
  body: object = {},
): Promise<void> {
  const payload = { name: id, ...body };
  await app.inject({ method: 'PUT', url: '/v1/domains/docs/site', headers: bearer(adminKey), payload });
  const site = { organization: id, domain: 'docs' };
  const jobId = `se_${'1'.repeat(22)}`;
  const events: SiteEvent[] = [
    {
      type: 'DeploymentRequested',
      version: 1,
      data: { ...site, deployment: 1, contentVersion: testContent, jobId, cause: 'published' },
    },
    { type: 'DeploymentLive', version: 1, data: { ...site, deployment: 1, sha256: 'a'.repeat(64), sizeBytes: 1 } },
  ];
  await handleCommand({ log: bus.sites, clock, random: randomBase62 }, siteAggregate, {
    subject: siteLogSubject(id, 'docs'),
    decide: () => events,
    origin: { source: 'deployer', actor: { kind: 'service', id: 'deployer' }, causationId: 'c', correlationId: 'c' },
  });
  await bus.projected();
}
