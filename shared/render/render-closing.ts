import type { ExportPlan } from '#shared/contracts/export-plan.ts';
import type { RenderedPage, SegmentSidecar } from '#shared/contracts/segment-sidecar.ts';
import type { SiteModel } from '#shared/docs-project/site-model.ts';
import { sha256Of } from '#shared/canonical-json/sha256-of.ts';
import { classCss } from './site/class-css.ts';
import { pageFeed } from './closing/page-feed.ts';
import { exportReport } from './closing/export-report.ts';
import { fullText } from './closing/full-text.ts';
import { searchIndexScript } from './closing/search-index.ts';
import type { RenderedFile } from './rendered-file.ts';

export type ClosingInput = {
  model: SiteModel;
  plan: Pick<ExportPlan, 'domain' | 'label' | 'contentVersion' | 'rendererVersion' | 'deployment' | 'groups'>;
  /** Sidecars of all segments in plan order; file paths in them start with the top folder, the domain's slug. */
  sidecars: Iterable<SegmentSidecar>;
};

const GENERATOR = 'Bindery';
const UNLISTED = new Set(['_bindery/config.js', '_bindery/manifest.json']);

/**
 * Files of the closing segment, sorted by path, the manifest last: what needs all pages. The manifest lists every file of the bundle but itself and
 * `_bindery/config.js`. Same sidecars, same bytes.
 */
export function renderClosing({ model, plan, sidecars }: ClosingInput): RenderedFile[] {
  const pages: RenderedPage[] = [];
  const listed = new Map<string, { size: number; sha256: string }>();
  const topFolder = `${plan.domain}/`;
  for (const sidecar of sidecars) {
    pages.push(...sidecar.pages);
    for (const { path, size, sha256 } of sidecar.files) {
      listed.set(path.startsWith(topFolder) ? path.slice(topFolder.length) : path, { size, sha256 });
    }
  }
  const exported = new Set(pages.map((page) => page.path));
  const files = new Map<string, string>();
  // A file of the project's root goes before a generated one.
  const put = (path: string, text: string | undefined): void => {
    if (text !== undefined && !listed.has(path)) files.set(path, text);
  };
  put('llms-full.txt', fullText(model, pages));
  put('_bindery/search-index.js', searchIndexScript(model, pages));
  put('_bindery/report.json', exportReport(model, pages, new Set(listed.keys())));
  put('_bindery/classes.css', classCss(pages));
  for (const page of pages) put(`${page.path}/rss.xml`, pageFeed(model, page));

  const made = [...files]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, text]) => ({ path, body: Buffer.from(text) }));
  for (const { path, body } of made) listed.set(path, { size: body.length, sha256: sha256Of(body) });
  const manifest = {
    formatVersion: 1,
    generator: GENERATOR,
    rendererVersion: plan.rendererVersion,
    domain: plan.domain,
    ...(plan.label !== undefined && { label: plan.label }),
    contentVersion: plan.contentVersion,
    deployment: plan.deployment,
    pageCount: exported.size,
    files: [...listed]
      .filter(([path]) => !UNLISTED.has(path))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, { size, sha256 }]) => ({ path, size, sha256 })),
  };
  return [...made, { path: '_bindery/manifest.json', body: Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`) }];
}
