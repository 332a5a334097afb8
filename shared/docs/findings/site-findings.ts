import type { SiteModel } from '#shared/docs/project/site-model.ts';
import { withoutUndefined } from '#shared/docs/project/json-values.ts';
import { decoded } from '#shared/docs/project/url-policy.ts';
import { brokenLinkDiagnostic, cut } from '#shared/docs/render/broken-link.ts';
import { namedPage, pageAddress, pagePathOfAddress } from '#shared/docs/render/bundle-paths.ts';
import type { CheckedPage } from '#shared/docs/render/checked-page.ts';
import { AnchorNames } from '#shared/docs/render/content/anchor-names.ts';
import type { SeenAddress } from '#shared/docs/render/content/page-addresses.ts';
import { isOfProject } from '#shared/docs/render/described-place.ts';
import { brokenLinks } from '#shared/docs/render/export-report.ts';
import { siteRedirects } from '#shared/docs/render/redirects.ts';
import { renderSite } from '#shared/docs/render/site/render-site.ts';
import { filesOfSite } from '#shared/docs/render/site-index.ts';
import type { SiteRenderOptions } from '#shared/docs/render/page-slice.ts';
import { formatBytes } from '#shared/runtime/figures.ts';
import type { Finding } from './finding-texts.ts';
import type { Repair } from './repair.ts';

/** A finding, and its repair if there is exactly one. */
export type RepairableFinding = { finding: Finding; repair?: Repair };

/** A picture that pages show may have this size without a finding. */
const mostPictureBytes = 1_000_000;
/** A page may load this much HTML and pictures of the project without a finding. */
const mostPageBytes = 5_000_000;

/**
 * The findings that need all pages of a site: links and anchors that lead nowhere, links that can be shorter, and the weight of pages and pictures.
 * `pages`: rendered pages. `exported`: the paths of all pages of the site, which are those of `pages` by default. Findings about anchors of a page
 * that is not rendered are left out (`pagesOfAnchors`). Pure.
 */
export function siteFindings(
  model: SiteModel,
  pages: readonly CheckedPage[],
  options: SiteRenderOptions,
  exported: ReadonlySet<string> = new Set(pages.map(({ path }) => path)),
): RepairableFinding[] {
  const fileOf = new Map(model.pages.map(({ path, file }) => [path, file]));
  return [
    ...linkFindings(model, pages, exported, options, fileOf),
    ...detours(model, pages, exported, fileOf),
    ...weights(model, pages, fileOf),
  ];
}

/** The pages that links with an anchor lead to from these pages: the findings about such a link need the anchors of its target. Pure. */
export function pagesOfAnchors(
  model: SiteModel,
  pages: readonly CheckedPage[],
  exported: ReadonlySet<string>,
): Set<string> {
  const ends = siteRedirects(model.redirects, (path) => exported.has(path));
  const found = new Set<string>();
  for (const { seen } of pages) {
    for (const { target } of seen.links) {
      const [rooted, anchor] = cut(target);
      const path = pagePathOfAddress(decoded(rooted));
      const page = namedPage(path, exported);
      const [end, hash] = page === undefined ? cut(ends.endOf(`/${path}`) ?? '') : [page];
      if ((anchor ?? hash) !== undefined && exported.has(end)) found.add(end);
    }
  }
  return found;
}

/** Cache of the files of a site itself, because the language server asks after each change of a text, which adds none. */
const namesOfSites = new WeakMap<SiteModel, readonly string[]>();

function namesOf(model: SiteModel, options: SiteRenderOptions): readonly string[] {
  const known =
    namesOfSites.get(model) ?? [...renderSite(model, options), ...filesOfSite(model).files].map(({ path }) => path);
  namesOfSites.set(model, known);
  return known;
}

function linkFindings(
  model: SiteModel,
  pages: readonly CheckedPage[],
  exported: ReadonlySet<string>,
  options: SiteRenderOptions,
  fileOf: ReadonlyMap<string, string>,
): RepairableFinding[] {
  const files = new Set(namesOf(model, options));
  for (const path of exported) for (const ending of ['.html', '.md']) files.add(`${path}${ending}`);
  const rendered = new Set(pages.map(({ path }) => path));
  // A page that is not rendered may have a feed.
  for (const path of exported) if (!rendered.has(path)) files.add(`${path}/rss.xml`);
  for (const { path, hasFeed } of pages) if (hasFeed) files.add(`${path}/rss.xml`);
  files.add('llms-full.txt');
  const others = [...exported].flatMap((path) => (rendered.has(path) ? [] : [{ path, anchors: undefined, links: [] }]));
  const linked = pages.map(({ path, anchors, seen: { links } }) => ({
    path,
    anchors: new Set(anchors),
    links: links.map(({ target }) => target),
    linkLines: links.map(({ line = 0 }) => line),
    linkColumns: links.map(({ column = 0 }) => column),
    linkFiles: links.map(({ file = '' }) => file),
  }));
  const seen = new Map(pages.map(({ path, seen: { links } }) => [path, links]));
  return Array.from(brokenLinks(model, [...linked, ...others], files), (link) => {
    const finding = brokenLinkDiagnostic(link, fileOf.get(link.page) ?? link.page);
    const { meant, line, column } = link;
    const written = seen
      .get(link.page)
      ?.find((one) => one.target === link.target && one.line === line && one.column === column)?.written;
    const to = meant === undefined || written === undefined ? undefined : withAnchor(written, meant);
    if (written === undefined || to === undefined || line === undefined) return { finding };
    return { finding, repair: { kind: 'address', file: finding.file, line, column, from: written, to } };
  });
}

/** An address with another anchor; undefined if the address has none. */
function withAnchor(written: string, anchor: string): string | undefined {
  const at = written.indexOf('#');
  return at < 0 ? undefined : `${written.slice(0, at)}#${encodeURI(anchor)}`;
}

/** Links that reach their page by its source file or through a redirect. */
function detours(
  model: SiteModel,
  pages: readonly CheckedPage[],
  paths: ReadonlySet<string>,
  fileOf: ReadonlyMap<string, string>,
): RepairableFinding[] {
  const pageOfFile = new Map(model.pages.map(({ path, file }) => [file, path]));
  const ends = siteRedirects(model.redirects, (path) => paths.has(path));
  const anchorsOf = new Map(pages.map(({ path, anchors }) => [path, anchors]));
  const hasAnchor = (path: string, hash: string): boolean =>
    hash.length < 2 || new AnchorNames(new Set(anchorsOf.get(path))).find(hash.slice(1)) !== undefined;
  const found: RepairableFinding[] = [];
  for (const page of pages) {
    const own = fileOf.get(page.path) ?? page.path;
    if (!isOfProject({ file: own })) continue;
    for (const link of page.seen.links) {
      const [written = '', rest = ''] = partsOf(link.written);
      const place = placeOf(link, own);
      const say = (code: Finding['code'], message: string, path: string, hash: string): void => {
        const to = `${pageAddress(path)}${hash}`;
        const finding: Finding = { severity: 'info', code, message: `${message} ${JSON.stringify(to)}.`, ...place };
        const { line, column, file } = place;
        found.push(
          // Which anchor is right on another page is for the author to say.
          line === undefined || !hasAnchor(path, hash.replace(/^[^#]*/, ''))
            ? { finding }
            : { finding, repair: { kind: 'address', file, line, column, from: link.written, to } },
        );
      };
      const rooted = decoded(cut(link.target)[0]);
      const path = pagePathOfAddress(rooted);
      const ofSource = namesSource(written) ? sourceOf(path, pageOfFile) : undefined;
      if (ofSource !== undefined) {
        say('link-to-source', `The link ${quoted(link.written)} names the source of a page. Write`, ofSource, rest);
      } else if (namedPage(path, paths) === undefined) {
        const [end, hash] = cut(ends.endOf(`/${path}`) ?? '');
        const anchor = hash === undefined || rest.includes('#') ? rest : `${rest}#${hash}`;
        if (paths.has(end))
          say('link-through-redirect', `The link ${quoted(link.written)} leads through a redirect. Write`, end, anchor);
      }
    }
  }
  return found;
}

/** The path of an address, and its query and anchor. */
const partsOf = (written: string): string[] => /^([^?#]*)(.*)$/s.exec(written)?.slice(1) ?? [];

/** An absolute path that ends with `.md` is the Markdown of a page, which is a page of its own. */
const namesSource = (path: string): boolean => /\.mdx$/i.test(path) || (/\.md$/i.test(path) && !path.startsWith('/'));

/** The page of a source file. The renderer has already taken the ending off relative paths with `.md`. */
const sourceOf = (path: string, pageOfFile: ReadonlyMap<string, string>): string | undefined =>
  [path, `${path}.md`, `${path}.mdx`, path.replace(/\.md$/i, '.mdx')]
    .map((file) => pageOfFile.get(file))
    .find((page) => page !== undefined);

function weights(
  model: SiteModel,
  pages: readonly CheckedPage[],
  fileOf: ReadonlyMap<string, string>,
): RepairableFinding[] {
  const sizes = new Map(model.assets.map(({ path, sizeBytes }) => [path, sizeBytes]));
  const found: RepairableFinding[] = [];
  const said = new Set<string>();
  for (const { path, htmlBytes, seen } of pages) {
    const own = fileOf.get(path) ?? path;
    let bytes = htmlBytes;
    for (const [file, place] of new Map(seen.media.toReversed().map((media) => [media.written, media]))) {
      const size = isPicture.test(file) ? (sizes.get(file) ?? 0) : 0;
      bytes += size;
      if (size <= mostPictureBytes || said.has(file)) continue;
      said.add(file);
      const message = `The picture ${quoted(file)} has ${formatBytes(size)}. Make it smaller, or save it in another format.`;
      found.push({ finding: { severity: 'info', code: 'heavy-picture', message, ...placeOf(place, own) } });
    }
    if (bytes <= mostPageBytes) continue;
    const message = `This page loads ${formatBytes(bytes)}: ${formatBytes(htmlBytes)} of HTML, and pictures. Make its pictures smaller, or split it.`;
    found.push({ finding: { severity: 'info', code: 'heavy-page', message, file: own } });
  }
  return found;
}

/** Videos and sounds are loaded when a reader plays them. */
const isPicture = /\.(?:png|jpe?g|gif|webp|avif|svg|bmp|ico)$/i;

const placeOf = ({ line, column, file }: SeenAddress, own: string) => ({
  file: file ?? own,
  ...withoutUndefined({ line, column }),
});

const quoted = (text: string): string => JSON.stringify(text.slice(0, 200));
