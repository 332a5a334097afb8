import { expect, test } from 'vitest';
import {
  closeSite,
  deployAgain,
  followContent,
  type FollowedContent,
  mostPreviews,
  openSite,
  type SiteSettings,
  reportDeployment,
  rollBack,
  runningDeployments,
  settleDeployment,
} from './decide.ts';
import { loginInFront, type SiteLogin, type WantedLogin } from './site-login.ts';
import { liveDeployments, rollbackTargets, siteAggregate, type SiteEvent, type SiteState } from './site.ts';

const site = { organization: 'acme', domain: 'docs' };
const settings = { name: 'docs', hosts: ['docs.acme.com'], previews: true, organizationPlan: 'pro' as const };
const actor = { kind: 'service' as const, id: 'deployer' };
const now = new Date('2026-12-01T10:00:00.000Z');
const version = (digit: number) => `cv_${String(digit).padStart(32, '0')}`;
const content = (
  latest: number | undefined,
  labels: Record<string, number> = {},
  publishedAt = now,
): FollowedContent => ({
  latest: latest === undefined ? undefined : version(latest),
  labels: Object.fromEntries(
    Object.entries(labels).map(([label, digit]) => [
      label,
      { contentVersion: version(digit), publishedAt: publishedAt.toISOString() },
    ]),
  ),
});

/** A site on which commands are carried out one after the other. */
function siteOf() {
  let state: SiteState | undefined;
  const apply = (events: readonly SiteEvent[]): string[] => {
    for (const event of events) state = siteAggregate.evolve(state, event, { time: now.toISOString(), actor });
    return events.map(({ type }) => type);
  };
  const current = () => state as SiteState;
  return {
    current,
    open: (changes: Partial<SiteSettings> = {}) => apply(openSite(state, site, { ...settings, ...changes })),
    follow: (seen: FollowedContent, at = now) => apply(followContent(state, seen, at)),
    complete: (number: number) =>
      apply(settleDeployment(state, jobOf(number), { sha256: 'a'.repeat(64), sizeBytes: number })),
    report: (number: number) => apply(reportDeployment(state, jobOf(number), { errors: 1, warnings: number })),
    fail: (number: number) => apply(settleDeployment(state, jobOf(number), { error: 'One page failed.' })),
    rollBack: (number: number) => apply(rollBack(state, site, number)),
    again: () => apply(deployAgain(state, site)),
    close: () => apply(closeSite(state, site)),
    statuses: () => current().deployments.map(({ number, status }) => `${number} ${status}`),
    live: () => liveDeployments(current()).map(({ label = '', number }) => `${label}${number}`),
  };
  function jobOf(number: number): string {
    return current().deployments.find((each) => each.number === number)?.jobId ?? '';
  }
}

test('what a site offers beside its pages can be changed, and stays off where an earlier version opened it', () => {
  const { open, current } = siteOf();
  open();
  expect([current().assistant, current().counts]).toEqual([undefined, undefined]);
  expect(open({ assistant: true, counts: true })).toEqual(['SiteOpened']);
  expect(open({ assistant: true, counts: true })).toEqual([]);
  expect(open({ assistant: true, counts: false })).toEqual(['SiteOpened']);
  expect([current().assistant, current().counts]).toEqual([true, false]);
});

test('an opened site deploys the latest content once, and readers see it when its export completes', () => {
  const { open, follow, complete, live, current } = siteOf();
  expect(open()).toEqual(['SiteOpened']);
  expect(open()).toEqual([]);
  expect(follow(content(undefined))).toEqual([]);
  expect(follow(content(1))).toEqual(['DeploymentRequested']);
  expect(follow(content(1))).toEqual([]);
  expect(live()).toEqual([]);
  expect(complete(1)).toEqual(['DeploymentLive']);
  expect(complete(1)).toEqual([]);
  expect(live()).toEqual(['1']);
  expect(current().deployments[0]).toMatchObject({ cause: 'opened', contentVersion: version(1), sizeBytes: 1 });
});

test('of publications while one is deployed only the last one follows, and the site never goes back', () => {
  const { open, follow, complete, statuses, live } = siteOf();
  open();
  for (const each of [1, 2, 3]) follow(content(each));
  expect(statuses()).toEqual(['1 running', '2 superseded', '3 waiting']);
  complete(1);
  expect(statuses()).toEqual(['1 live', '2 superseded', '3 running']);
  complete(3);
  expect(statuses()).toEqual(['1 replaced', '2 superseded', '3 live']);
  expect(live()).toEqual(['3']);
});

test('a failed deployment leaves readers what they see, and the next publication is deployed', () => {
  const { open, follow, complete, fail, statuses, current } = siteOf();
  open();
  follow(content(1));
  complete(1);
  follow(content(2));
  follow(content(3));
  fail(2);
  expect(statuses()).toEqual(['1 live', '2 failed', '3 running']);
  expect(current().deployments[1]?.error).toBe('One page failed.');
  fail(3);
  expect(statuses()).toEqual(['1 live', '2 failed', '3 failed']);
});

test('a failed deployment can be repeated, but not while one runs', () => {
  const { open, follow, fail, again, statuses } = siteOf();
  open();
  expect(again).toThrow('Nothing is published');
  follow(content(1));
  expect(again).toThrow('Deployment 1 of "docs" is running');
  fail(1);
  expect(again()).toEqual(['DeploymentRequested']);
  expect(statuses()).toEqual(['1 failed', '2 running']);
});

test('a rollback is live at once, supersedes what runs, and only a later publication is deployed over it', () => {
  const { open, follow, complete, rollBack: back, statuses, live } = siteOf();
  open();
  for (const each of [1, 2]) {
    follow(content(each));
    complete(each);
  }
  follow(content(3));
  expect(back(1)).toEqual(['DeploymentRequested', 'DeploymentLive']);
  expect(statuses()).toEqual(['1 replaced', '2 replaced', '3 superseded', '4 live']);
  expect(complete(3)).toEqual([]);
  expect(live()).toEqual(['4']);
  expect(follow(content(3))).toEqual([]);
  expect(follow(content(5))).toEqual(['DeploymentRequested']);
  expect(back(4)).toEqual([]);
});

test('a site can be rolled back to the last five deployments only', () => {
  const { open, follow, complete, rollBack: back, current } = siteOf();
  open();
  for (let each = 1; each <= 8; each += 1) {
    follow(content(each));
    complete(each);
  }
  expect(rollbackTargets(current().deployments).map(({ number }) => number)).toEqual([3, 4, 5, 6, 7]);
  expect(() => back(2)).toThrow('cannot be rolled back to deployment 2. Possible are: 3, 4, 5, 6, 7.');
});

test('each label has a preview that follows it, and ends with the label, after 30 days, and when previews are off', () => {
  const { open, follow, complete, live, current } = siteOf();
  open();
  follow(content(1, { 'pr-1': 2, 'pr-2': 2 }));
  for (const { number } of runningDeployments(current())) complete(number);
  expect(live()).toEqual(['1', 'pr-12', 'pr-23']);
  expect(follow(content(1, { 'pr-1': 3, 'pr-2': 2 }))).toEqual(['DeploymentRequested']);
  expect(follow(content(1, { 'pr-2': 2 }))).toEqual(['PreviewEnded']);
  expect(live()).toEqual(['1', 'pr-23']);
  const later = new Date(now.getTime() + 31 * 86_400_000);
  expect(follow(content(1, { 'pr-2': 2 }), later)).toEqual(['PreviewEnded']);
  follow(content(1, { 'pr-3': 4 }));
  open({ previews: false });
  expect(follow(content(1, { 'pr-3': 4 }))).toEqual(['PreviewEnded']);
  expect(live()).toEqual(['1']);
});

test('a label with the name of a member of objects is a label like any other', () => {
  const { open, follow, current } = siteOf();
  open();
  follow(content(undefined, { constructor: 1, toString: 2 }));
  expect(current().deployments.map(({ label }) => label)).toEqual(['constructor', 'toString']);
  expect(follow(content(undefined, { constructor: 1, toString: 2 }))).toEqual([]);
});

test('of more labels than previews may be, those published last have one', () => {
  const { open, follow, current } = siteOf();
  open();
  const labels = Object.fromEntries(
    Array.from({ length: mostPreviews + 5 }, (_, index) => [
      `pr-${index}`,
      { contentVersion: version(index), publishedAt: new Date(now.getTime() - index * 1000).toISOString() },
    ]),
  );
  follow({ latest: undefined, labels });
  expect(Object.keys(current().followed.labels)).toHaveLength(mostPreviews);
  expect(current().followed.labels).not.toHaveProperty(`pr-${mostPreviews}`);
});

test('a closed site is seen by nobody, and is deployed anew when it is opened again', () => {
  const { open, follow, complete, close, live, statuses } = siteOf();
  open();
  follow(content(1));
  complete(1);
  follow(content(2));
  expect(close()).toEqual(['SiteClosed']);
  expect(live()).toEqual([]);
  expect(statuses()).toEqual(['1 ended', '2 superseded']);
  expect(follow(content(3))).toEqual([]);
  expect(close).toThrow('The domain "docs" has no site');
  open();
  expect(follow(content(2))).toEqual(['DeploymentRequested']);
  expect(statuses()).toEqual(['1 ended', '2 superseded', '3 running']);
});

test('the state of a site stays small over a thousand deployments', () => {
  const { open, follow, complete, current } = siteOf();
  open();
  for (let each = 1; each <= 1_000; each += 1) {
    follow(content(each, { 'pr-1': each % 2 }));
    for (const { number } of runningDeployments(current())) complete(number);
  }
  expect(current().deploymentCount).toBeGreaterThan(1_900);
  expect(Buffer.byteLength(JSON.stringify(current()))).toBeLessThan(40_000);
});

const hashOf = (letter: string) => `scrypt:15:8:1:${letter.repeat(22)}:${letter.repeat(43)}`;
const password = (...users: { name: string; hash?: string }[]) =>
  ({ kind: 'password', protects: 'all', users }) satisfies WantedLogin;

test('a login stays with its passwords until it is changed, also by clients that do not send one, and after the site was closed', () => {
  const { open, close, current } = siteOf();
  open();
  expect(current().login).toBeUndefined();
  expect(open({ login: password({ name: 'anna', hash: hashOf('a') }) })).toEqual(['SiteOpened']);
  const stored = current().login;
  expect(open()).toEqual([]);
  expect(open({ login: password({ name: 'anna' }) })).toEqual([]);
  open({ login: password({ name: 'anna' }, { name: 'bert', hash: hashOf('b') }) });
  expect(current().login).toEqual(password({ name: 'anna', hash: hashOf('a') }, { name: 'bert', hash: hashOf('b') }));
  open({ login: password({ name: 'anna' }) });
  close();
  open({ hosts: [] });
  expect(current().login).toEqual(stored);
  expect(open({ hosts: [], login: { kind: 'none' } })).toEqual(['SiteOpened']);
  expect(current()).not.toHaveProperty('login');
});

test('a reader without a password, stored or sent, is refused, and a removed one has none any more', () => {
  const { open } = siteOf();
  const missing = 'The field "login.users.0.password" is missing: "anna" has no password yet.';
  expect(() => open({ login: password({ name: 'anna' }) })).toThrow(missing);
  open({ login: password({ name: 'anna', hash: hashOf('a') }) });
  open({ login: { kind: 'oidc', protects: 'all', groups: [], emailDomains: [] } });
  expect(() => open({ login: password({ name: 'anna' }) })).toThrow(missing);
});

test('a login for previews leaves the live site open', () => {
  const login: SiteLogin = { kind: 'oidc', protects: 'previews', groups: ['docs'], emailDomains: [] };
  expect([loginInFront(login, true), loginInFront(login, false)]).toEqual([login, undefined]);
  expect(loginInFront({ ...login, protects: 'all' }, false)).toMatchObject({ groups: ['docs'] });
});

test('findings belong to deployments that were live, are recorded once, and stay with the content after a rollback', () => {
  const { open, follow, complete, report, rollBack: back, current } = siteOf();
  open();
  follow(content(1));
  expect(report(1)).toEqual([]);
  complete(1);
  expect(report(1)).toEqual(['DeploymentReported']);
  expect(report(1)).toEqual([]);
  follow(content(2));
  complete(2);
  expect(back(1)).toEqual(['DeploymentRequested', 'DeploymentLive', 'DeploymentReported']);
  expect(current().deployments.map(({ number, findings }) => [number, findings])).toEqual([
    [1, { errors: 1, warnings: 1 }],
    [2, undefined],
    [3, { errors: 1, warnings: 1 }],
  ]);
});

test('commits stay small: of ended deployments that no rollback needs the state keeps five, and those since the last request', () => {
  const { open, follow, complete, fail, current, statuses } = siteOf();
  open();
  for (let each = 1; each <= 40; each += 1) {
    follow(content(each));
    if (each % 2 === 0) complete(each);
    else fail(each);
  }
  const kept = (status: string) => statuses().filter((each) => each.endsWith(status));
  expect([kept('live').length, kept('replaced').length, kept('failed').length]).toEqual([1, 6, 5]);
  expect(JSON.stringify(current()).length).toBeLessThan(5_000);
});

test('each deployment is in the state after its end, also the oldest one, and all previews of a site that is closed', () => {
  const { open, follow, fail, complete, close, current, statuses } = siteOf();
  open();
  follow(content(1));
  for (let each = 2; each <= 9; each += 1) {
    follow(content(each));
    expect(statuses()).toContain(each === 2 ? '2 waiting' : `${each - 1} superseded`);
  }
  fail(1);
  expect(statuses()).toContain('1 failed');
  const labels = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`label-${at}`, 100 + at]));
  follow(content(9, labels));
  expect(statuses()).not.toContain('1 failed');
  for (const { number, label } of current().deployments) if (label !== undefined) complete(number);
  close();
  expect(statuses().filter((each) => each.endsWith(' ended'))).toHaveLength(20);
});

test('a service of an earlier version, which does not know the limit, makes states that are the fold of their events', () => {
  const { open, follow, fail, current } = siteOf();
  open();
  for (let each = 1; each <= 20; each += 1) {
    follow(content(each));
    fail(each);
  }
  // Earlier versions read the fields that they know, and continue with them.
  const { organization, domain, isOpen, deploymentCount, deployments, followed, ...known } = current();
  expect(Object.keys(known).sort()).toEqual(['hosts', 'name', 'organizationPlan', 'previews']);
  const next: SiteEvent = {
    type: 'DeploymentRequested',
    version: 1,
    data: { ...site, deployment: 21, contentVersion: version(21), jobId: `se_${'0'.repeat(22)}`, cause: 'published' },
  };
  const before = { organization, domain, isOpen, deploymentCount, deployments, followed, ...known };
  const metadata = { time: now.toISOString(), actor };
  expect(siteAggregate.evolve(before, next, metadata).deployments).toHaveLength(deployments.length + 1);
});

test('states of earlier versions remain the fold of their events, which do not name the limit', () => {
  const { open, current } = siteOf();
  open();
  let state = current();
  for (let deployment = 1; deployment <= 70; deployment += 1) {
    const data = { ...site, deployment, contentVersion: version(deployment), jobId: `se_${'0'.repeat(22)}` };
    const events: SiteEvent[] = [
      { type: 'DeploymentRequested', version: 1, data: { ...data, cause: 'published' } },
      { type: 'DeploymentFailed', version: 1, data: { ...site, deployment, error: 'One page failed.' } },
    ];
    for (const event of events) state = siteAggregate.evolve(state, event, { time: now.toISOString(), actor });
  }
  expect(state.deployments).toHaveLength(50);
  const [next] = followContent(state, content(71), now);
  if (next === undefined) throw new Error('nothing is deployed');
  expect(siteAggregate.evolve(state, next, { time: now.toISOString(), actor }).deployments).toHaveLength(6);
});
