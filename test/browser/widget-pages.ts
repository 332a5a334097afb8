import { createServer } from 'node:http';
import { onTestFinished } from 'vitest';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { type LoopbackServer, onLoopback } from '../support/on-loopback.ts';

export const assistantKey = `svc_dsc_${'0'.repeat(36)}`;

/** The policy that the documentation of the widget names, for a page that loads nothing else. `more`: further sources of scripts, such as a nonce. */
export const strictPolicy = (server: string, more = ''): string =>
  `default-src 'none'; script-src ${server} ${more}; connect-src ${server}; require-trusted-types-for 'script'`;

/** Serves pages by their paths, on an origin of their own. */
export function servePages(
  pages: Readonly<Record<string, { html: string; policy?: string }>>,
): Promise<LoopbackServer> {
  const server = createServer(({ url = '' }, response) => {
    const page = pages[url.split('?')[0] ?? ''];
    if (page === undefined) return void response.writeHead(204).end();
    response.setHeader('content-type', 'text/html; charset=utf-8');
    if (page.policy !== undefined) response.setHeader('content-security-policy', page.policy);
    response.end(page.html);
  });
  return onLoopback(server);
}

/** A page whose scripts and styles in the page have the nonce `n`. */
export const pageWith = (body: string, head = ''): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Acme</title>${head}</head><body><main><h1>Acme</h1>${body}</main></body></html>`;

/** Opens a page and collects its errors, refusals of its policy, and the addresses that it loads. */
export async function openWatched(
  newContext: (options?: BrowserContextOptions) => Promise<BrowserContext>,
  address: string,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; context: BrowserContext; problems: string[]; loaded: string[] }> {
  const context = await newContext({ viewport: { width: 1280, height: 800 }, ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const problems: string[] = [];
  const loaded: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  page.on('request', (request) => loaded.push(request.url()));
  await page.goto(address);
  return { page, context, problems, loaded };
}
