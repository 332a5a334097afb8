import { expect, test } from 'vitest';
import { readAnalytics } from './read-analytics.ts';

function read(integrations: Parameters<typeof readAnalytics>[0]) {
  const problems: string[] = [];
  return { found: readAnalytics(integrations, (problem) => problems.push(problem)), problems };
}

test('services that count by plain HTTP are kept, with only their own settings', () => {
  const { found, problems } = read({
    plausible: { domain: 'docs.acme.com', server: 'stats.acme.com', other: 'x' },
    posthog: { apiKey: 'phc_1' },
    matomo: { url: 'https://matomo.acme.com', siteId: 3 },
    ga4: { measurementId: 'G-ABC1234567' },
    telemetry: { enabled: false },
  });
  expect(found).toEqual({
    plausible: { domain: 'docs.acme.com', server: 'stats.acme.com' },
    posthog: { apiKey: 'phc_1' },
    matomo: { url: 'https://matomo.acme.com', siteId: '3' },
    ga4: { measurementId: 'G-ABC1234567' },
  });
  expect(problems).toEqual([]);
});

test('consent is a key and a value that the browser stores', () => {
  expect(read({ cookies: { key: 'consent', value: true } }).found).toEqual({
    consent: { key: 'consent', value: 'true' },
  });
  expect(read({ cookies: { key: 'consent' } }).problems).toEqual([
    '"integrations.cookies" has no effect: it needs "key" and "value".',
  ]);
});

test.each([
  [
    { hotjar: { hjid: '1' } },
    /^"integrations.hotjar" has no effect: pages run no scripts of other sites\. Visits can be counted by amplitude, ga4, /,
  ],
  [
    { gtm: { tagId: 'GTM-1' } },
    /^"integrations.gtm" has no effect: a tag manager loads scripts of other sites, and pages run none\. Name .*"ga4"/,
  ],
  [
    { ga4: { measurementId: 'UA-1' } },
    /^"integrations.ga4" has no effect: "measurementId" is "UA-1", which that service does not/,
  ],
  [{ ga4: {} }, /^"integrations.ga4" has no effect: it needs "measurementId"\.$/],
  [{ constructor: {} }, /^"integrations.constructor" has no effect: pages run/],
  [{ umami: { url: 'https://umami.acme.com' } }, /^"integrations.umami" has no effect: it needs "websiteId"\.$/],
  [{ matomo: 'x' }, /^"integrations.matomo" has no effect: it needs "url" and "siteId"\.$/],
])('%j has no effect, and a diagnostic gives the reason', (integrations, problem) => {
  const { found, problems } = read(integrations);
  expect(found).toEqual({});
  expect(problems).toEqual([expect.stringMatching(problem)]);
});

test.each([undefined, null, 'x', []])('%j names no service', (integrations) => {
  expect(read(integrations)).toEqual({ found: {}, problems: [] });
});
