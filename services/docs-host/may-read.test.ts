import { expect, test } from 'vitest';
import { accountOf } from '#shared/login/account.ts';
import { mayRead } from './may-read.ts';

const groups = { groups: ['writers'], emailDomains: [] };
const domain = { groups: [], emailDomains: ['acme.test'] };
const own = { sub: 'a', email: 'a@elsewhere.test', email_verified: true };

test.each([
  ['the token says both', { ...own, email: 'a@acme.test' }, undefined, true],
  ['userinfo says both', { sub: 'a' }, { ...own, email: 'a@acme.test' }, true],
  [
    'the token says only the address, userinfo both',
    { sub: 'a', email: 'a@acme.test' },
    { ...own, email: 'a@acme.test' },
    true,
  ],
  ['userinfo has another address, and the token verified its own', own, { sub: 'a', email: 'ceo@acme.test' }, false],
  ['the token has another address, and userinfo verified its own', { sub: 'a', email: 'ceo@acme.test' }, own, false],
  [
    'the token says that it is not verified',
    { ...own, email: 'a@acme.test', email_verified: false },
    { ...own, email: 'a@acme.test' },
    false,
  ],
  ['the verification is a word', { ...own, email: 'a@acme.test', email_verified: 'true' }, undefined, false],
  ['two addresses stand in one', { ...own, email: 'a@elsewhere.test, b@acme.test' }, undefined, false],
  ['a name stands before it', { ...own, email: '"x@acme.test" <a@elsewhere.test>' }, undefined, false],
])('of owners of addresses: %s', (_what, token, userInfo, isLetIn) => {
  expect(mayRead(accountOf(token, userInfo, 'groups'), domain)).toBe(isLetIn);
});

test.each([
  ['the token has them', { sub: 'a', groups: ['writers'] }, undefined, true],
  ['userinfo has them', { sub: 'a' }, { sub: 'a', groups: ['writers'] }, true],
  ['one group is a text', { sub: 'a', groups: 'writers' }, undefined, true],
  ['the token has none, and userinfo others', { sub: 'a', groups: [] }, { sub: 'a', groups: ['writers'] }, false],
  ['the token has something else', { sub: 'a', groups: { writers: true } }, { sub: 'a', groups: ['writers'] }, false],
  ['nobody has them', { sub: 'a' }, { sub: 'a' }, false],
])('of members of groups: %s', (_what, token, userInfo, isLetIn) => {
  expect(mayRead(accountOf(token, userInfo, 'groups'), groups)).toBe(isLetIn);
});

test('a token and userinfo of different readers are of nobody', () => {
  expect(() => accountOf(own, { ...own, sub: 'b' }, 'groups')).toThrow('different readers');
  expect(() => accountOf(own, { email: 'a@acme.test' }, 'groups')).toThrow('sub');
});
