import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll } from 'vitest';
import { renderSite } from '#shared/docs/render/site/render-site.ts';
import type { SiteRenderOptions } from '#shared/docs/render/page-slice.ts';
import type { RenderedFile, RenderedText } from '#shared/docs/render/bundle-paths.ts';
import { closingFiles, testOptions, testProject } from '#shared/docs/render/test-project.ts';
import { newFolder } from '../support/new-folder.ts';
import { type LoopbackServer, onLoopback } from '../support/on-loopback.ts';
import { suiteBrowser } from '../support/suite-browser.ts';

/** A site in a browser, for the tests of one suite. Pages that a test opened are closed after it. */
export type BrowserSite = {
  /** Folder of the unpacked site. */
  folder: () => string;
  newContext: (options?: BrowserContextOptions) => Promise<BrowserContext>;
  /** Opens a path of the folder, or an address, at 1280 × 800 by default. */
  open: (path: string, options?: BrowserContextOptions) => Promise<Page>;
  /** Problems of the last opened page: errors, violations of its policy, requests to other sites. */
  readonly problems: string[];
  /** Saves a screenshot of the whole page in the folder `BINDERY_SCREENSHOTS`, if it is set. */
  keepPicture: (page: Page, name: string) => Promise<void>;
};

/** Unpacks the site and opens a browser before the tests of the suite around it. */
export function siteInBrowser(files: Record<string, string | Uint8Array>, options: SiteChanges = {}): BrowserSite {
  let folder: string;
  const problems: string[] = [];
  const { newContext } = suiteBrowser();

  beforeAll(async () => {
    folder = await siteFolder(files, options);
  });

  return {
    folder: () => folder,
    newContext,
    problems,
    async open(path, options) {
      problems.length = 0;
      const context = await newContext({ viewport: { width: 1280, height: 800 }, ...options });
      await context.exposeFunction('refusedByPolicy', (what: string) => problems.push(what));
      await context.addInitScript(
        "addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => refusedByPolicy(effectiveDirective + ' ' + blockedURI), true)",
      );
      const page = await context.newPage();
      const address = /^https?:/.test(path) ? path : `file://${folder}/${path}`;
      page.on('pageerror', (error) => problems.push(error.message));
      page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
      page.on('request', (request) => {
        if (/^https?:/.test(request.url()) && !request.url().startsWith(new URL(address).origin))
          problems.push(request.url());
      });
      await page.goto(address, { waitUntil: 'load' });
      return page;
    },
    keepPicture,
  };
}

export async function keepPicture(page: Page, name: string): Promise<void> {
  const pictures = process.env.BINDERY_SCREENSHOTS;
  if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
}

/** Overrides of the default site. */
type SiteChanges = Partial<Pick<SiteRenderOptions, 'allowTenantScripts' | 'deployment' | 'domain' | 'site'>>;

/** Writes a rendered project into a new folder, like an unpacked bundle; returns the folder. */
export async function siteFolder(
  files: Record<string, string | Uint8Array>,
  options: SiteChanges = {},
): Promise<string> {
  const folder = newFolder();
  const project = await testProject(files);
  const rendered = project.model.pages.map((page) => project.render(page.path, { ...testOptions, ...options }));
  const pages = rendered.map(({ page }) => page);
  const closing = await closingFiles(project.model, pages, { domain: 'test' });
  const write = ({ path, body }: RenderedFile | RenderedText) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), body);
  };
  const site = renderSite(project.model, { ...testOptions, ...options });
  for (const file of [...site, ...rendered.flatMap((page) => page.files), ...closing]) write(file);
  const { assets, styles, scripts } = project.model;
  for (const { path } of [...assets, ...styles, ...(options.allowTenantScripts === false ? [] : scripts)])
    write({ path, body: project.bytes(path) });
  return folder;
}

/** Serves the folder under `/docs/`, and its 404.html for everything else, like a host of static files. */
export function serveFolder(folder: string): Promise<LoopbackServer> {
  const types: Record<string, string> = {
    css: 'text/css',
    js: 'text/javascript',
    svg: 'image/svg+xml',
    woff2: 'font/woff2',
  };
  const server = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? '/').split('?')[0] ?? '/');
    const type = types[path.split('.').at(-1) ?? ''] ?? 'text/html';
    const file = path.startsWith('/docs/')
      ? readFile(join(folder, path.slice('/docs/'.length)))
      : Promise.reject(new Error('outside'));
    file.then(
      (body) => response.writeHead(200, { 'content-type': type }).end(body),
      async () =>
        response.writeHead(404, { 'content-type': 'text/html' }).end(await readFile(join(folder, '404.html'))),
    );
  });
  return onLoopback(server);
}
