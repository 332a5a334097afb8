import { expect, test } from 'vitest';
import { type Deployment, siteAggregate, type SiteEvent, type SiteState } from '#shared/aggregates/site/site.ts';
import { followContent, openSite, settleDeployment } from '#shared/aggregates/site/decide.ts';
import type { SiteDeploymentsDocument } from '#shared/interfaces/read-models.ts';
import { withDeployments } from './site-projection.ts';

const site = { organization: 'acme', domain: 'docs' };
const settings = { name: 'docs', hosts: [], previews: true, organizationPlan: 'pro' as const };
const actor = { kind: 'service' as const, id: 'deployer' };
const now = new Date('2026-12-01T10:00:00.000Z');

/** The states after each commit of a site with that many publications. Each of them fails or is live. */
function statesOf(publications: number): SiteState[] {
  const states: SiteState[] = [];
  const apply = (events: readonly SiteEvent[]): void => {
    let state = states.at(-1);
    for (const event of events) state = siteAggregate.evolve(state, event, { time: now.toISOString(), actor });
    if (state !== undefined) states.push(state);
  };
  apply(openSite(undefined, site, settings));
  for (let at = 1; at <= publications; at += 1) {
    const latest = `cv_${String(at).padStart(32, '0')}`;
    apply(followContent(states.at(-1), { latest, labels: {} }, now));
    const jobId = states.at(-1)?.deployments.at(-1)?.jobId ?? '';
    const outcome = at % 3 === 0 ? { error: 'One page failed.' } : { sha256: 'a'.repeat(64), sizeBytes: at };
    apply(settleDeployment(states.at(-1), jobId, outcome));
  }
  return states;
}

/** The document after these commits. */
function folded(states: readonly SiteState[], before?: SiteDeploymentsDocument): SiteDeploymentsDocument | undefined {
  let document = before;
  for (const [at, state] of states.entries())
    document = withDeployments(document, { revision: at + 1, actor, data: { events: [], state } }) ?? document;
  return document;
}

const statuses = (deployments: readonly Deployment[] = []) =>
  deployments.map(({ number, status }) => `${number} ${status}`);

test('the list has the last 50 deployments that the state has dropped, as they ended, and those of the state', () => {
  const states = statesOf(80);
  const { deployments = [] } = folded(states) ?? {};
  expect(states.at(-1)?.deployments.length).toBeLessThan(13);
  expect(deployments).toHaveLength(50 + (states.at(-1)?.deployments.length ?? 0));
  const ended = (number: number) => `${number} ${number === 80 ? 'live' : number % 3 === 0 ? 'failed' : 'replaced'}`;
  expect(statuses(deployments)).toEqual(deployments.map(({ number }) => ended(number)));
  expect(deployments.at(-1)?.number).toBe(80);
});

test('commits that come again change nothing, and after a loss of the log the list is made again', () => {
  const states = statesOf(20);
  const whole = folded(states);
  expect(folded(states, whole)).toEqual(whole);
  expect(
    withDeployments(whole, { revision: 3, actor, data: { events: [], state: states[2] as SiteState } }),
  ).toBeUndefined();
  const before = states.slice(0, 21);
  const again = withDeployments(
    whole,
    { revision: 21, actor, data: { events: [], state: before.at(-1) as SiteState } },
    true,
  );
  expect(statuses(again?.deployments)).toEqual(statuses(folded(before)?.deployments));
});

test('the list has the failure of a deployment that began before five others that ended', () => {
  const states: SiteState[] = [];
  const apply = (events: readonly SiteEvent[]): void => {
    let state = states.at(-1);
    for (const event of events) state = siteAggregate.evolve(state, event, { time: now.toISOString(), actor });
    if (state !== undefined) states.push(state);
  };
  const publish = (at: number) =>
    apply(followContent(states.at(-1), { latest: `cv_${String(at).padStart(32, '0')}`, labels: {} }, now));
  apply(openSite(undefined, site, settings));
  for (let at = 1; at <= 9; at += 1) publish(at);
  const jobId = states.at(-1)?.deployments[0]?.jobId ?? '';
  apply(settleDeployment(states.at(-1), jobId, { error: 'One page failed.' }));
  publish(10);
  expect(states.at(-1)?.deployments.map(({ number }) => number)).not.toContain(1);
  expect(statuses(folded(states)?.deployments)).toContain('1 failed');
});

test('the list has the actor of each deployment, also after the state has dropped it, and those of before have none', () => {
  const ada = { kind: 'person', id: 'ada@acme.test' } as const;
  const [opened, first] = statesOf(1);
  if (opened === undefined || first === undefined) throw new Error('The site is open.');
  const number = first.deployments[0]?.number ?? 0;
  const before = { revision: 1, deployments: first.deployments };
  expect(withDeployments(before, { revision: 2, actor, data: { events: [], state: first } })?.deployments[0]).toEqual(
    first.deployments[0],
  );
  const asked = (askedBy?: typeof ada) =>
    followContent(opened, { latest: first.deployments[0]?.contentVersion, labels: {} }, now, askedBy);
  const foldedBy = (events: SiteEvent[]) =>
    withDeployments(undefined, { revision: 2, actor, data: { events, state: first } });
  expect(foldedBy(asked(ada))?.deployments).toMatchObject([{ number, actor: ada }]);
  expect(foldedBy(asked())?.deployments).toMatchObject([{ number, actor }]);
  const later = { ...first, deployments: [], deploymentCount: 2 };
  expect(
    withDeployments(foldedBy(asked(ada)), { revision: 3, actor, data: { events: [], state: later } })?.deployments,
  ).toMatchObject([{ number, actor: ada }]);
});
