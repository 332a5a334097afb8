import { expect, test } from 'vitest';
import { isPageView, referrerOf } from './page-views.ts';

const browser = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36';
const opened = { 'sec-fetch-dest': 'document', accept: 'text/html,*/*;q=0.8', 'user-agent': browser };

test.each<[string, object, boolean]>([
  ['a page that a reader opens', {}, true],
  ['one in a browser without fetch metadata', { 'sec-fetch-dest': undefined }, true],
  ['a program without fetch metadata', { 'sec-fetch-dest': undefined, accept: '*/*' }, false],
  ['a script of a page', { 'sec-fetch-dest': 'empty' }, false],
  ['a frame', { 'sec-fetch-dest': 'iframe' }, false],
  ['a page that is loaded in advance', { 'sec-purpose': 'prefetch;prerender' }, false],
  ['the same in older browsers', { purpose: 'prefetch' }, false],
  ['a part of a page', { range: 'bytes=0-10' }, false],
  ['a crawler', { 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' }, false],
  ['a crawler that runs scripts', { 'user-agent': `${browser} HeadlessChrome/131` }, false],
  ['a preview of a chat', { 'user-agent': 'Slackbot-LinkExpanding 1.0' }, false],
  ['a command', { 'user-agent': 'curl/8.9.1' }, false],
  ['a client that does not say what it is', { 'user-agent': undefined }, false],
  [
    'a reader with a phone',
    {
      'user-agent':
        'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
    },
    true,
  ],
  [
    'a reader with a phone named Cubot',
    { 'user-agent': 'Mozilla/5.0 (Linux; Android 13; CUBOT X30) AppleWebKit/537.36' },
    true,
  ],
])('%s', (_what, changes, expected) => {
  expect(isPageView({ method: 'GET', headers: { ...opened, ...changes } })).toBe(expected);
});

test('only GET counts', () => {
  expect(isPageView({ method: 'HEAD', headers: opened })).toBe(false);
});

test.each([
  ['https://News.Example:8443/item?id=1#x', 'news.example'],
  ['https://docs.acme.com/guides', undefined],
  ['http://docs.localhost:8090/', undefined],
  ['android-app://com.example', undefined],
  ['no address', undefined],
  ['', undefined],
])('the referrer %j has the host name %j', (referer, expected) => {
  expect(referrerOf({ headers: { referer } }, ['docs.acme.com', 'docs.localhost'])).toBe(expected);
});
