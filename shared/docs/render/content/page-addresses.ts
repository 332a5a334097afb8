import type { Element } from 'hast';
import { pageFile, pagePathOfAddress, relativeHref, withoutBase } from '../bundle-paths.ts';
import { type Report, type Start, startOf } from '../findings.ts';
import { languageOf } from '../interface-texts/language.ts';
import type { PageSlice } from '../page-slice.ts';
import { AnchorNames } from './anchor-names.ts';
import type { Addresses } from './write-content.ts';
import type { PictureSize } from '#shared/docs/project/picture-size.ts';
import { isRemoteStem, remoteAddress, remoteStem } from '#shared/docs/reference/remote-files.ts';
import { classifyUrl, decoded, isInlineImage, rootedPath } from '#shared/docs/project/url-policy.ts';

/** An address that a page has, as its author wrote it, and its place. */
export type SeenAddress = Partial<Start> & { written: string };

/** All addresses of a page in their order, for checks that an export does not make. */
export type SeenAddresses = {
  /** Links to pages and files of the project. `target`: as in the `links` of a page. */
  links: (SeenAddress & { target: string })[];
  /** Links to other sites, and pictures of other sites. `written` is the address that readers get. */
  external: SeenAddress[];
  /** Files of the project that the page shows. `written`: the path in the project. */
  media: SeenAddress[];
};

/** Converts the addresses that an author wrote to those of the bundle, and collects their targets. */
type PageAddresses = Addresses & {
  /**
   * The internal targets with their anchors, each with a slash in front, and the place of the first link to each, if it is known. Broken links are
   * found later, when all pages are known.
   */
  links: Map<string, Partial<Start>>;
  seen: SeenAddresses;
  /** Corrected anchors of links inside the page: the anchor as written, with a hash in front → the id that the page has. */
  healed: ReadonlyMap<string, string>;
};

/**
 * Converts the addresses of a page to relative ones, so that the bundle works at any path and from a folder. Addresses of pictures on other sites
 * stay unchanged, unless the project has copies of them: nothing is fetched.
 */
export function pageAddresses(slice: PageSlice, ids: ReadonlySet<string>, report: Report): PageAddresses {
  const names = new AnchorNames(ids);
  const links = new Map<string, Partial<Start>>();
  const healed = new Map<string, string>();
  const seen: SeenAddresses = { links: [], external: [], media: [] };
  const hasCopies = Object.keys(slice.links).some(isRemoteStem);
  const add = (target: string, element: Element, written: string): void => {
    const place = startOf(element);
    if (!links.has(target)) links.set(target, place);
    if (seen.links.length < mostSeen) seen.links.push({ target, written, ...place });
  };
  const note = (to: SeenAddress[], written: string, element: Element): void => {
    if (to.length < mostSeen) to.push({ written, ...startOf(element) });
  };
  return {
    links,
    seen,
    healed,
    missingImage: languageOf(slice.language).texts.missingImage,
    sizeOf,
    resolve: (attribute, written, element) => (attribute === 'href' ? href : source)(written, element),
  };

  function href(written: string, element: Element): string | undefined {
    const url = classifyUrl(written);
    switch (url.kind) {
      case 'refused':
        report(
          'address-not-allowed',
          `The address ${quoted(written)} is left out: only http, https, mailto, tel and the addresses of known programs may be linked.`,
          element,
        );
        return undefined;
      case 'external':
        if (/^https?:/.test(url.href)) note(seen.external, url.href, element);
        return url.href;
      case 'anchor':
        return ownAnchor(written, url.hash, element, written);
      case 'path': {
        if (url.path === '') return ownAnchor(written, url.hash, element, written);
        const { target, file } = pageOf(url.path, element);
        if (file === pageFile(slice.path) && url.hash.length > 1)
          return hrefOf(file, url.query, ownAnchor(url.hash, url.hash, element, written, target));
        add(target + url.hash, element, written);
        return hrefOf(file, url.query, url.hash);
      }
    }
  }

  /** Address of a link inside the page, with the anchor that the page has. `target`: the page in the form that is recorded among the
   * links. `whole`: the address with its path. */
  function ownAnchor(
    written: string,
    hash: string,
    element: Element,
    whole: string,
    target = `/${slice.path}`,
  ): string {
    if (hash.length < 2 || 'dataFootnoteRef' in element.properties) return written;
    const anchor = hash.slice(1);
    const id = names.find(anchor);
    const isSame = id === undefined || id === anchor || id === decoded(anchor);
    add(target + (isSame ? hash : `#${id}`), element, whole);
    if (isSame) return written;
    healed.set(hash, `#${id}`);
    return written.slice(0, written.length - hash.length) + `#${encodeURI(id)}`;
  }

  /**
   * Resolves a path to its page, and to the target that is recorded for it. A relative path to a source file leads to its page instead of the
   * Markdown twin.
   */
  function pageOf(path: string, element: Element): { target: string; file: string } {
    const written = rootedPath(path, slice.file);
    const isMissing = known(written, slice.links) === null && known(written, slice.folders) === undefined;
    const inSite = isMissing ? withoutBase(written, slice.settings.siteUrl) : undefined;
    const isThere = inSite !== undefined && (known(inSite, slice.links) ?? known(inSite, slice.folders)) !== undefined;
    const target = isThere ? inSite : written;
    const source = path.startsWith('/') ? undefined : /^(.+)\.md$/i.exec(target)?.[1];
    const page = source === undefined ? null : resolve(source);
    if (source !== undefined && page !== null && page.endsWith('.html')) return { target: source, file: page };
    const folder = known(target, slice.folders);
    if (folder === undefined) return { target, file: resolve(target) ?? fallbackFile(target) };
    report(
      'folder-link',
      `${quoted(target)} is a folder without a page of its own; the link leads to the first page in it, ${quoted(`/${folder}`)}. Link to a page.`,
      element,
    );
    return { target: `/${folder}`, file: pageFile(folder) };
  }

  function source(written: string, element: Element): string | undefined {
    if (isInlineImage(written)) return written;
    const url = classifyUrl(written);
    const refuse = (why: string): undefined =>
      report('address-not-allowed', `The address ${quoted(written)} is left out: ${why}.`, element) as undefined;
    if (url.kind === 'external') {
      const copy = copyOf(url.href);
      if (copy !== undefined) {
        note(seen.media, copy, element);
        return relativeHref(slice.path, copy);
      }
      if (!url.href.startsWith('https:')) return refuse('media of other sites must have an https address');
      note(seen.external, url.href, element);
      return url.href;
    }
    if (url.kind !== 'path' || url.path === '')
      return refuse('it is neither a file of the project nor an https address');
    if (climbsOut(url.path, slice.file)) return refuse('it points outside the project');
    const target = rootedPath(url.path, slice.file);
    const found = resolve(target);
    if (found !== null && !found.startsWith('https:')) {
      note(seen.media, found, element);
      return relativeHref(slice.path, found);
    }
    report('missing-file', `There is no file ${quoted(target)} in the project.`, element);
    return undefined;
  }

  function sizeOf(written: string): PictureSize | undefined {
    const url = classifyUrl(written);
    if (url.kind === 'external') return slice.pictures[copyOf(url.href) ?? ''];
    if (url.kind !== 'path' || url.path === '' || climbsOut(url.path, slice.file)) return undefined;
    const found = resolve(rootedPath(url.path, slice.file));
    return found !== null && Object.hasOwn(slice.pictures, found) ? slice.pictures[found] : undefined;
  }

  /** The copy of a picture of another site, which was fetched on the author's machine. */
  function copyOf(href: string): string | undefined {
    if (!hasCopies) return undefined;
    return slice.links[`/${remoteStem(remoteAddress(href) ?? '')}`] ?? undefined;
  }

  /** Resolves a target. Targets that expressions or snippets make are unknown at publication, so they are assumed to exist. */
  function resolve(target: string): string | null {
    const found = known(target, slice.links);
    return found === undefined ? fallbackFile(target) : found;
  }

  function hrefOf(file: string, query: string, hash: string): string {
    if (file.startsWith('https:')) return file;
    const [path = '', anchor] = file.split('#');
    return relativeHref(slice.path, path) + query + (hash !== '' ? hash : anchor === undefined ? '' : `#${anchor}`);
  }
}

/** Limit of the addresses of one kind that are kept for checks. */
const mostSeen = 10_000;

function known<Value>(target: string, values: Readonly<Record<string, Value>>): Value | undefined {
  const name = [target, target.replace(/\/$/, ''), decoded(target)].find((one) => Object.hasOwn(values, one));
  return name === undefined ? undefined : values[name];
}

function fallbackFile(target: string): string {
  const path = pagePathOfAddress(target);
  return /\.[a-z0-9]{1,8}$/i.test(path) ? decoded(path) : pageFile(decoded(path));
}

function climbsOut(path: string, file: string): boolean {
  let depth = path.startsWith('/') ? 0 : file.split('/').length - 1;
  for (const part of decoded(path).split('/')) {
    if (part === '..') depth -= 1;
    else if (part !== '' && part !== '.') depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 200));
