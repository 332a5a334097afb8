/*
 * Deployments under load: thirty a minute to a documentation host of many sites that is asked 2,000 requests a second. Prints the counts of requests that
 * failed and of pages with files of another version, which must be 0. `npm run bench:docs-host-deployments -- [seconds] [requests a second]`
 */
import { setTimeout as delay } from 'node:timers/promises';
import { exampleBundle } from '../support/example-bundle.ts';
import { startHostProcess } from '../support/host-process.ts';
import { visitExample } from '../support/ask-host.ts';
import { startSiteLoad } from '../support/site-load.ts';
import { sitesPlatform } from '../support/sites-platform.ts';

const [seconds = 60, requestsPerSecond = 2_000] = process.argv.slice(2).map(Number);
const deploymentsPerMinute = 30;
const requestsOfVisit = 4;
const sites = Array.from({ length: 10 }, (_, at) => `site-${at}`);
const more = Object.fromEntries(
  Array.from({ length: 50 }, (_, at) => [`pages/p${at}.html`, `<html><body>${`${at} `.repeat(3_000)}</body></html>`]),
);

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const platform = await sitesPlatform();
const host = await startHostProcess({ ...platform.env, BINDERY_LOG_LEVEL: 'info' });
try {
  for (const domain of sites) platform.deploy({ domain, bundle: await exampleBundle(`${domain}-0-`, more) });
  for (const domain of sites)
    while ((await visitExample(host.url, `${domain}.localhost`)).version !== `${domain}-0-`) await delay(20);
  const load = startSiteLoad({
    url: host.url,
    names: sites.map((domain) => `${domain}.localhost`),
    readers: 32,
    visitsPerSecond: requestsPerSecond / requestsOfVisit,
  });
  const deployments = Math.round((seconds * deploymentsPerMinute) / 60);
  const startedAt = performance.now();
  for (let at = 1; at <= deployments; at += 1) {
    await delay(Math.max(0, startedAt + (at * 60_000) / deploymentsPerMinute - performance.now()));
    const domain = sites[at % sites.length] ?? '';
    platform.deploy({ domain, bundle: await exampleBundle(`${domain}-${at}-`, more) });
  }
  const { failed, mixed, problems, requests, versions, seconds: took } = await load.stop();
  say(
    `${deployments} deployments, ${requests} requests, ${Math.round(requests / took)} a second (of ${requestsPerSecond}), ${versions} versions seen`,
  );
  say(`${failed} visits with a failed request, ${mixed} with files of another version`);
  for (const problem of problems) say(`  ${problem}`);
  if (failed + mixed > 0) process.exitCode = 1;
} finally {
  await host.end();
  await platform.close();
}
