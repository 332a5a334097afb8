import { expect, test } from 'vitest';
import { readFeedEvent } from './sites-feed.ts';

const served = {
  site: 'acme/docs/pr-12',
  organization: 'acme',
  domain: 'docs',
  label: 'pr-12',
  address: 'https://pr-12--docs.example.com',
  hosts: ['pr-12--docs.example.com', 'docs.localhost'],
  deployment: 3,
  jobId: `se_${'0'.repeat(22)}`,
  contentVersion: `cv_${'0'.repeat(32)}`,
  sha256: '0'.repeat(64),
  sizeBytes: 100,
  liveSince: '2026-11-28T10:00:00.000Z',
};
const site = (change: object = {}) => readFeedEvent({ event: 'site', data: JSON.stringify({ ...served, ...change }) });

test('sites, sites that are gone, and the end of the list are read', () => {
  expect(site()).toEqual({ kind: 'site', site: served });
  expect(readFeedEvent({ event: 'gone', data: '{"site":"acme/docs"}' })).toEqual({ kind: 'gone', site: 'acme/docs' });
  expect(readFeedEvent({ event: 'whole', data: '{}' })).toEqual({ kind: 'whole' });
});

test('properties and events of a newer platform are left out', () => {
  expect(site({ ofLater: 1 })).toEqual({ kind: 'site', site: served });
  expect(readFeedEvent({ event: 'counted', data: '{}' })).toEqual({ kind: 'unknown' });
  expect(readFeedEvent({ data: '{}' })).toEqual({ kind: 'unknown' });
});

const hash = `scrypt:15:8:1:${'a'.repeat(22)}:${'b'.repeat(43)}`;
const password = { kind: 'password', users: [{ name: 'anna', hash }] };

test('a login is read as it is, and one that cannot be read closes the site', () => {
  const loginOf = (login: unknown) => {
    const read = site({ login });
    return read.kind === 'site' ? read.site.login : read;
  };
  const oidc = { kind: 'oidc', groups: ['docs'], emailDomains: [] };
  expect([loginOf(password), loginOf(oidc), loginOf(undefined)]).toEqual([password, oidc, undefined]);
  const unreadable = [
    ...[null, 'none', {}, { kind: 'none' }, { kind: 'saml' }, { ...oidc, groups: 'docs' }, { kind: 'oidc' }],
    ...[
      { ...password, users: [] },
      { ...password, users: [{ name: 'anna' }] },
    ],
    { ...password, users: [{ name: 'anna', hash: 'correct horse battery' }] },
    { ...password, users: [{ name: 'anna', hash: hash.replace('15', '20') }] },
  ];
  for (const login of unreadable) expect([login, loginOf(login)]).toEqual([login, { kind: 'closed' }]);
});

test('an event that is refused still says which login its site has', () => {
  expect(site({ hosts: [], login: password })).toMatchObject({ kind: 'refused', site: served.site, login: password });
  expect(site({ hosts: [], login: 7 })).toMatchObject({ kind: 'refused', login: { kind: 'closed' } });
  expect(site({ hosts: [] })).toMatchObject({ kind: 'refused', login: undefined });
});

test.each([
  ['hosts', []],
  ['hosts', ['Docs.example.com']],
  ['hosts', ['docs.example.com:8090']],
  ['hosts', ['docs..example']],
  ['hosts', ['a'.repeat(64)]],
  ['address', 'ftp://docs.example.com'],
  ['address', `https://docs.example.com/${'a'.repeat(2_000)}`],
  ['site', 'acme/docs'],
  ['label', '../x'],
  ['organization', 'Acme'],
  ['sha256', 'x'],
  ['sizeBytes', -1],
  ['liveSince', 'now'],
])('a site whose %s is %j is refused, and is still named', (name, value) => {
  const about = name === 'site' ? 'acme/docs' : served.site;
  expect(site({ [name]: value })).toMatchObject({ kind: 'refused', site: about });
});

test.each(['', 'x', 'null', '[]', '{"site":7}'])('data %j is refused', (data) => {
  for (const event of ['site', 'gone'])
    expect(readFeedEvent({ event, data })).toMatchObject({ kind: 'refused', site: undefined });
});
