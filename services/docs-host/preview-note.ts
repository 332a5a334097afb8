import { escapeHtml } from '#shared/docs/render/html.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { type PreviewNote, shortDigest } from './version-list.ts';

/*
 * Each page of a preview says that it is one. The note has no script and no style of its own: policies of pages forbid both, and allow style sheets of
 * the site. It is fixed, so it moves nothing on the page, and takes no clicks.
 */

const sheetPath = '_bindery/preview.css';

const sheet = `.bindery-preview-note{position:fixed;z-index:2147483000;left:12px;bottom:12px;max-width:calc(100vw - 48px);padding:5px 12px;border:1px solid #ffffff40;border-radius:999px;background:#1f2937;color:#fff;font:500 12px/1.5 system-ui,sans-serif;letter-spacing:0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;pointer-events:none;opacity:.92}
@media print{.bindery-preview-note{display:none}}
`;

/** Files that the host adds to a preview, or serves instead of those of the bundle. */
export const previewFiles: readonly [path: string, body: Buffer][] = [
  ['robots.txt', Buffer.from('User-agent: *\nDisallow: /\n')],
  [sheetPath, Buffer.from(sheet)],
];

/** Headers of each answer of a preview. */
export const previewHeaders = { 'x-robots-tag': 'noindex, nofollow' } as const;

/** The note on each page of a preview, as HTML. Pure. */
export function previewNoteOf({ label, date }: PreviewNote, base: string): string {
  const address = `${base}/_bindery/@${shortDigest(sha256Of(sheet))}/${sheetPath}`;
  return `<link rel="stylesheet" href="${address}"><div class="bindery-preview-note" role="note" lang="en" dir="ltr">Preview “${escapeHtml(label)}” of <time datetime="${escapeHtml(date)}">${escapeHtml(date)}</time></div>`;
}
