import { expect, test } from 'vitest';
import { folderLinkUrl, verifyFolderLink } from './download-link.ts';

const key = 'a secret of sixteen or more';
const expires = 1_700_000_000;
const before = new Date((expires - 1) * 1000);
const link = {
  key: 'bundles/acme/a b+c.tar.gz',
  expires,
  fileName: 'acme & "söhne".tar.gz',
  contentType: 'application/gzip',
};
const url = folderLinkUrl(link, 'https://docs.example.com/api/', key);

test('a link names what it was signed for until it expires', () => {
  const { expires: _, ...named } = link;
  expect(url.startsWith('https://docs.example.com/api/_objects/bundles/acme/a%20b%2Bc.tar.gz?expires=')).toBe(true);
  expect(verifyFolderLink(url, key, before)).toEqual(named);
  expect(verifyFolderLink(new URL(url), key, before)).toEqual(named);
  expect(verifyFolderLink(url.slice('https://docs.example.com/api'.length), key, before)).toEqual(named);
  expect(verifyFolderLink(url, key, new Date(expires * 1000))).toBe('expired');
});

test.each([
  ['another key of the store', (text: string) => text.replace('acme/a', 'other/a')],
  ['a climbing path', (text: string) => text.replace('/bundles/', '/bundles/../bundles/x/')],
  ['a later end', (text: string) => text.replace(`expires=${expires}`, `expires=${expires + 1}`)],
  ['an end that is no number', (text: string) => text.replace(`expires=${expires}`, 'expires=1e99')],
  ['another name', (text: string) => text.replace('name=acme', 'name=evil')],
  ['another type', (text: string) => text.replace('gzip&', 'html&')],
  ['a shorter signature', (text: string) => text.slice(0, -1)],
  ['another signature', (text: string) => text.replace(/signature=.*/, `signature=${'A'.repeat(43)}`)],
  ['no signature', (text: string) => text.replace(/&signature=.*/, '')],
  ['no query', (text: string) => text.replace(/\?.*/, '')],
  ['a broken path', (text: string) => text.replace('a%20b', 'a%2')],
  ['no path at all', () => 'http://'],
])('a link with %s is invalid, expired or not', (_what, change) => {
  expect(change(url)).not.toBe(url);
  expect(verifyFolderLink(change(url), key, before)).toBe('invalid');
  expect(verifyFolderLink(change(url), key, new Date((expires + 9) * 1000))).toBe('invalid');
});

test('a link signed with another key is invalid', () => {
  expect(verifyFolderLink(url, 'another secret of that length', before)).toBe('invalid');
});
