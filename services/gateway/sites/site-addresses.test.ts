import { expect, test } from 'vitest';
import type { Deployment, SiteState } from '#shared/aggregates/site/site.ts';
import { deploymentList } from './site-addresses.ts';

const deployment = (number: number, status: Deployment['status']): Deployment => ({
  ...{ number, status, cause: 'published', requestedAt: '2026-12-01T10:00:00.000Z' },
  ...{ contentVersion: `cv_${'0'.repeat(32)}`, jobId: `se_${'0'.repeat(22)}` },
});

const state = (...deployments: Deployment[]): SiteState => ({
  ...{ organization: 'acme', domain: 'docs', isOpen: true, name: 'docs', hosts: [], previews: true },
  ...{ organizationPlan: 'pro', deploymentCount: 9, deployments, followed: { labels: {} } },
});

const base = { protocol: 'http', host: 'localhost', port: '8090' } as const;

test('the list shows the state of each deployment, and ended ones that the state has dropped', () => {
  const listed = [
    deployment(1, 'failed'),
    deployment(2, 'replaced'),
    deployment(8, 'running'),
    deployment(9, 'waiting'),
  ];
  const { deployments } = deploymentList(base, state(deployment(8, 'replaced'), deployment(9, 'live')), listed);
  expect(deployments.map(({ id, status }) => [id, status])).toEqual([
    [9, 'live'],
    [8, 'replaced'],
    [2, 'replaced'],
    [1, 'failed'],
  ]);
});

test('a dropped deployment that the read model does not know as ended is left out', () => {
  const { deployments } = deploymentList(base, state(deployment(9, 'live')), [deployment(8, 'running')]);
  expect(deployments.map(({ id }) => id)).toEqual([9]);
});
