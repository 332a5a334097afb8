import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { renderSite } from '#shared/docs/render/site/render-site.ts';
import type { RenderedFile } from '#shared/docs/render/bundle-paths.ts';
import { closingFiles, testOptions, testProject } from '#shared/docs/render/test-project.ts';

/** Writes a rendered project into a new folder, like an unpacked bundle; returns the folder. */
export async function siteFolder(files: Record<string, string>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'site-'));
  const project = await testProject(files);
  const rendered = project.model.pages.map((page) => project.render(page.path));
  const pages = rendered.map(({ page }) => page);
  const closing = await closingFiles(project.model, pages, { domain: 'test' });
  const write = ({ path, body }: RenderedFile) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), body);
  };
  for (const file of [...renderSite(project.model, testOptions), ...rendered.flatMap((page) => page.files), ...closing])
    write(file);
  const { assets, styles, scripts } = project.model;
  for (const { path } of [...assets, ...styles, ...scripts]) write({ path, body: Buffer.from(project.text(path)) });
  return folder;
}

/** Serves the folder under `/docs/`, and its 404.html for everything else, like a host of static files. */
export async function serveFolder(folder: string): Promise<{ url: string; close(): Promise<void> }> {
  const types: Record<string, string> = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' };
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
