import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { renderClosing } from '#shared/docs/render/render-closing.ts';
import { renderSite } from '#shared/docs/render/site/render-site.ts';
import type { RenderedFile } from '#shared/docs/render/bundle-paths.ts';
import { testOptions, testProject } from '#shared/docs/render/test-project.ts';

/** Writes a rendered project into a new folder, like an unpacked bundle; returns the folder. */
export async function siteFolder(files: Record<string, string>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'site-'));
  const project = await testProject(files);
  const rendered = project.model.pages.map((page) => project.render(page.path));
  const segment = {
    version: 1 as const,
    sha256: '0'.repeat(64),
    crc32: 0,
    rawLength: 0,
    sizeBytes: 0,
    files: [],
    diagnostics: [],
  };
  const { contentVersion } = project.model;
  const closing = renderClosing({
    model: project.model,
    plan: {
      domain: 'test',
      contentVersion,
      rendererVersion: 'r-000000000000',
      deployment: 'client-hosted',
      groups: [],
    },
    sidecars: [{ ...segment, pages: rendered.map(({ page }) => page) }],
  });
  const write = ({ path, body }: RenderedFile) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), body);
  };
  for (const file of [...renderSite(project.model, testOptions), ...rendered.flatMap((page) => page.files), ...closing])
    write(file);
  return folder;
}
