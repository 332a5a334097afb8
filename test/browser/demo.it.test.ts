import { get } from 'node:http';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { docsHostSettings } from '#services/docs-host/config.ts';
import { start } from '#services/docs-host/main.ts';
import { loadConfig } from '#shared/runtime/config.ts';
import type { Running } from '#shared/service/start-service.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { localProject, ownDocumentation } from '../support/docs-projects.ts';
import { findBarriers } from '../support/find-barriers.ts';
import { listAllFiles } from '../support/list-all-files.ts';
import { newFolder } from '../support/new-folder.ts';
import { publishedProject } from '../support/published-project.ts';
import { testLogger } from '../support/test-logger.ts';
import { unpackedSite } from '../support/unpacked-site.ts';
import { suiteBrowser } from '../support/suite-browser.ts';
import { keepPicture } from './site-folder.ts';

/** Maximum size of a page of the demo over the wire, with its scripts, styles and logo, in bytes. */
const mostBytes = 45_000;
const mostRequests = 12;
const minuteMs = 60_000;

const looks = [
  { width: 1440, scheme: 'light' },
  { width: 390, scheme: 'dark' },
] as const;
const pages = ['/', '/concepts/sites', '/api/static-export/get-an-export'] as const;

describeWithServers(['chromium'], 'the demo, served by a documentation host', () => {
  const { newContext } = suiteBrowser();
  let host: Running;
  let paths: string[];

  beforeAll(async () => {
    const folder = newFolder();
    const published = await publishedProject(await localProject(ownDocumentation));
    paths = (await unpackedSite(published, folder)).map(({ path }) => (path === 'index' ? '/' : `/${path}`));
    listAllFiles(folder);
    const env = { BINDERY_DATA: newFolder(), BINDERY_DOCS_HOST_PORT: '0', BINDERY_BUNDLE_PATH: folder };
    host = await start(loadConfig(docsHostSettings, env), testLogger);
    const isReady = async () => {
      if (!(await fetch(`${host.url}/readyz`)).ok) throw new Error('The host is not ready.');
    };
    await vi.waitFor(isReady, { timeout: minuteMs });
  }, 2 * minuteMs);
  afterAll(() => host?.stop());

  test(`each page takes at most ${mostBytes / 1000} kB with its scripts and styles`, {
    timeout: minuteMs,
  }, async () => {
    const sizes = new Map<string, number>();
    const sizeOf = async (path: string): Promise<number> => {
      const size = sizes.get(path) ?? (await sent(new URL(path, host.url))).bytes;
      sizes.set(path, size);
      return size;
    };
    const large: string[] = [];
    for (const path of paths) {
      const page = await sent(new URL(path, host.url));
      const html = await (await fetch(new URL(path, host.url))).text();
      const files = [...html.matchAll(/<script src="([^"]+)"|<link rel="stylesheet" href="([^"]+)"/g)];
      expect(files.length).toBeGreaterThan(4);
      let bytes = page.bytes;
      for (const [, script, style] of files) {
        bytes += await sizeOf(
          new URL((script ?? style ?? '').replaceAll('&amp;', '&'), new URL(path, host.url)).pathname,
        );
      }
      if (bytes > mostBytes) large.push(`${path}: ${bytes}`);
    }
    expect(large).toEqual([]);
    expect(paths.length).toBeGreaterThan(90);
  });

  for (const path of pages)
    test.each(looks)(
      `${path} at $width px, $scheme: small, quiet, still and without barriers`,
      { timeout: minuteMs },
      async ({ width, scheme }) => {
        const context = await newContext({ viewport: { width, height: 900 }, colorScheme: scheme });
        await context.addInitScript(watchPaints);
        const page = await context.newPage();
        const wire = await watchedWire(page);
        await page.goto(new URL(path, host.url).href, { waitUntil: 'load' });
        const { shifts, largest } = await page.evaluate<{ shifts: string[]; largest: string | undefined }>(
          readToTheEnd,
        );
        expect(shifts).toEqual([]);
        expect(largest).toBeTruthy();
        expect(wire.problems).toEqual([]);
        expect(wire.requests()).toBeGreaterThan(5);
        expect(wire.requests()).toBeLessThanOrEqual(mostRequests);
        expect(wire.bytes()).toBeGreaterThan(10_000);
        expect(wire.bytes()).toBeLessThanOrEqual(mostBytes);
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
        expect(await page.evaluate(structure)).toEqual({ language: 'en', banner: 1, main: 1, titles: 1, unnamed: [] });
        expect(await findBarriers(page)).toEqual([]);
        await keepPicture(page, `demo${path.replaceAll('/', '-')}-${width}-${scheme}`);
      },
    );

  test('the form of an API page opens without an error, and shows the request', { timeout: minuteMs }, async () => {
    const context = await newContext({ viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    const { problems } = await watchedWire(page);
    await page.goto(new URL('/api/assistant/search', host.url).href);
    await page.getByRole('button', { name: 'Try it' }).click();
    const form = page.locator('.playground');
    await form.getByRole('button', { name: 'Send' }).waitFor();
    expect(await form.innerText()).toContain('http://localhost:8080/discovery/v1/search/demo');
    expect(problems).toEqual([]);
    await keepPicture(page, 'demo-playground');
  });
});

/** The size of an answer as it is sent, compressed as for a browser. */
function sent(url: URL): Promise<{ bytes: number }> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { 'accept-encoding': 'gzip, deflate, br, zstd' } }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url.pathname}: ${response.statusCode}`));
      let bytes = 0;
      response.on('data', (part: Buffer) => (bytes += part.length)).on('end', () => resolve({ bytes }));
    }).on('error', reject);
  });
}

/** Counts what a page requests, and keeps its problems: messages in the console, errors, answers that are no success, requests to other sites. */
async function watchedWire(page: Page) {
  const problems: string[] = [];
  let bytes = 0;
  let requests = 0;
  page.on('console', (message) => problems.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('requestfailed', (request) => problems.push(`${request.url()} failed`));
  page.on('response', (response) => {
    if (response.status() >= 400) problems.push(`${response.url()}: ${response.status()}`);
    if (new URL(response.url()).origin !== new URL(page.url()).origin && page.url() !== 'about:blank')
      problems.push(`${response.url()} is another site`);
  });
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  network.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
    requests += 1;
  });
  return { problems, bytes: () => bytes, requests: () => requests };
}

const watchPaints = `
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries())
      shifts.push(value + ' ' + sources.map(({ node }) => node?.className ?? node?.nodeName).join(', '));
  }).observe({ type: 'layout-shift', buffered: true });
  new PerformanceObserver((list) => {
    window.largest = list.getEntries().at(-1)?.element?.nodeName;
  }).observe({ type: 'largest-contentful-paint', buffered: true });`;

/** Scrolls to the end by half a window at a time. Resolves after two more frames, because the browser reports a shift after the next frame. */
const readToTheEnd = `(async () => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  for (let at = 0; at < document.documentElement.scrollHeight; at += innerHeight / 2) {
    scrollTo(0, at);
    await frame();
  }
  await frame();
  await frame();
  await new Promise((resolve) => setTimeout(resolve));
  return { shifts, largest: window.largest };
})()`;

const structure = `({
  language: document.documentElement.lang,
  banner: document.querySelectorAll('body > header').length,
  main: document.querySelectorAll('main').length,
  titles: document.querySelectorAll('h1').length,
  unnamed: Array.from(document.querySelectorAll('nav, img:not([alt])'))
    .filter((element) => !element.hasAttribute('aria-label') && !element.hasAttribute('aria-labelledby'))
    .map((element) => element.outerHTML.slice(0, 80)),
})`;
