import { posix } from 'node:path';
import { isExternalHref } from '#shared/docs/project/url-policy.ts';
import { encodePath, pageAddress } from '#shared/docs/render/bundle-paths.ts';
import { escapeHtml } from '#shared/docs/render/html.ts';
import { mayBeVersioned } from './hosted-types.ts';
import { type Attribute, readStartTags, type StartTag } from './start-tags.ts';
import type { Redirection } from '#shared/docs/render/redirects.ts';

/** Parameters for the addresses of a page. */
export type SiteAddresses = {
  /** Path that the site is served under: `/docs`, or empty. */
  base: string;
  /** Identifies the version in addresses. */
  token: string;
  /** First digits of the SHA-256 of a file's bytes, by its path in the bundle; undefined if the file does not exist. */
  digestOf: (path: string) => string | undefined;
  /** True if no other servers can be reached where the site is read. */
  isAirGapped?: boolean;
};

/** Folder of the files of one version. */
const versionedFolder = (base: string, token: string): string => `${base}/_bindery/@${token}/`;

/** Scripts that load others from their own folder. */
const loadsBesideItself = /^_bindery\/(diagrams|islands)\.js$/;

/**
 * Rewrites a page of a bundle for a server. The addresses in a bundle are relative: they name no version, and break when `/guides` shows
 * `guides/index.html`. In the result, links lead to pages by addresses without extension. Files that display the page are named by their bytes
 * (`/_bindery/@<digest>/…`), and style sheets by the version, because they load files beside them; so after a change of version an open page continues
 * with its own files. All other addresses keep their names. Pages of an air-gapped site load nothing from other servers. Apart from addresses only the
 * start tag of the page changes, which tells where the site and its files are. `note` is HTML that is added at the beginning of the body. Pure.
 */
export function rewritePage(html: string, file: string, site: SiteAddresses, note?: string): string {
  const address = addressesOn(file, site);

  /** The new text of an attribute; undefined if it stays. */
  function rewritten({ name, value }: Attribute, tag: string, form: Form): string | undefined {
    if (!namesAddress.has(name) && addressesOf.get(tag)?.has(name) !== true) return undefined;
    // Without an address, a picture shows its alternative text, and the browser waits for no server.
    if (site.isAirGapped && form !== 'link' && isElsewhere(name, value))
      return `data-elsewhere-${name}="${escapeHtml(value)}"`;
    const found =
      name === 'srcset'
        ? inSrcset(value, (url) => address(url, form) ?? url)
        : name === 'data-fonts'
          ? value.replaceAll(/\S+/g, (url) => address(url, 'version') ?? url)
          : address(value, name === 'data-root' ? 'root' : form);
    return found === undefined || found === value ? undefined : `${name}="${escapeHtml(found)}"`;
  }

  const parts: string[] = [];
  let copied = 0;
  const put = (text: string, from: number, to: number): void => {
    parts.push(html.slice(copied, from), text);
    copied = to;
  };
  let isBegun = false;
  let isNoted = note === undefined;
  readStartTags(html, (tag) => {
    const form = formIn(tag);
    for (const attribute of tag.attributes) {
      const text = rewritten(attribute, tag.name, form);
      if (text !== undefined) put(text, attribute.start, attribute.end);
    }
    if (tag.name === 'body' && !isNoted) {
      isNoted = true;
      put(note ?? '', tag.end + 1, tag.end + 1);
    }
    if (tag.name !== 'html' || isBegun) return undefined;
    isBegun = true;
    const root = tag.attributes.some(({ name }) => name === 'data-root') ? '' : ` data-root="${site.base}/"`;
    put(`${root} data-files="${versionedFolder(site.base, site.token)}" data-page-end=""`, tag.end, tag.end);
    return undefined;
  });
  return parts.join('') + html.slice(copied) + (isNoted ? '' : note);
}

/** The form that the addresses in a tag get. */
function formIn({ name: tag, attributes }: StartTag): Form {
  if (tag === 'a' || tag === 'area') return 'link';
  const rel = tag === 'link' ? attributes.find(({ name }) => name === 'rel')?.value : undefined;
  if (rel === 'stylesheet') return 'version';
  return rel !== undefined && /^(prev|next|alternate|canonical)$/.test(rel) ? 'link' : 'file';
}

/** Attributes of every element that name an address. */
const namesAddress: ReadonlySet<string> = new Set(['href', 'src', 'poster', 'srcset']);

/** Attributes in which our own scripts find addresses. Authors may use some of the same names elsewhere. */
const addressesOf: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['html', new Set(['data-root', 'data-fonts'])],
  ['script', new Set(['data-islands'])],
]);

/** Changes the addresses of a `srcset`. An address may contain commas, but neither begins nor ends with one. */
function inSrcset(value: string, change: (url: string) => string): string {
  const candidate = /[^\s,]\S*/g;
  let made = '';
  let copied = 0;
  for (let found = candidate.exec(value); found !== null; found = candidate.exec(value)) {
    const { 0: text, index } = found;
    let end = index + text.length;
    while (value[end - 1] === ',') end -= 1;
    made += value.slice(copied, index) + change(value.slice(index, end));
    copied = end;
    const isLast = end === index + text.length;
    const comma = isLast ? value.indexOf(',', end) : end;
    candidate.lastIndex = comma === -1 ? value.length : comma;
  }
  return made + value.slice(copied);
}

/** True if a value is an address of another server, or a `srcset` contains one. Like browsers, it ignores line ends and reads `\\` as `/`. */
const isElsewhere = (attribute: string, value: string): boolean =>
  (attribute === 'srcset' ? /(^|[\s,])(https?:|[/\\]{2})/i : /^(https?:|[/\\]{2})/i).test(
    value.trim().replaceAll(attribute === 'srcset' ? /\0/g : /[\t\n\r]/g, ''),
  );

/** The form of an address: a link to a page, a file named by its bytes, a file named by the version, or the start of the site. */
type Form = 'link' | 'file' | 'version' | 'root';

/** Returns a function that maps an address of a page to its new one, or to undefined if it leads out of the bundle and stays. */
function addressesOn(file: string, site: SiteAddresses): (written: string, form: Form) => string | undefined {
  const folder = posix.dirname(file);

  function target(path: string, form: Form): string {
    if (form === 'root') return `${site.base}/`;
    const digest = site.digestOf(path);
    if (digest === undefined || form === 'link' || !mayBeVersioned(path)) {
      const isPage = digest !== undefined && path.endsWith('.html');
      return site.base + (isPage ? pageOf(path) : `/${encodePath(path)}`);
    }
    const token = form === 'version' || loadsBesideItself.test(path) ? site.token : digest;
    return `${versionedFolder(site.base, token)}${encodePath(path)}`;
  }

  function pageOf(path: string): string {
    const found = pageAddress(path.slice(0, -'.html'.length));
    return found === '/' && site.base !== '' ? '' : found;
  }

  return (written, form) => {
    if (written === '' || written.length > longestAddress || /^[#?]/.test(written)) return undefined;
    if (isExternalHref(written)) return undefined;
    const end = /[?#]/.exec(written)?.index ?? written.length;
    const path = inBundle(folder, written.slice(0, end));
    return path === undefined ? undefined : target(path, form) + written.slice(end);
  };
}

/** Upper bound for addresses. None of our pages has a longer one, and the time for a path grows with the square of its length. */
const longestAddress = 8_192;

/** The path in the bundle that an address of a page in `folder` names; undefined for one outside of it. It has no leading slash, which could make it a host. */
function inBundle(folder: string, written: string): string | undefined {
  let path: string;
  try {
    path = decodeURIComponent(written);
  } catch {
    return undefined;
  }
  const joined = path.startsWith('/') ? path.slice(1) : posix.join(folder, path);
  const clean = posix.normalize(joined);
  if (clean.startsWith('../') || clean === '..') return undefined;
  return clean.replace(/^(?:\.\/?$|\/+)/, '');
}

/** Elements that a head may contain. Any other element begins the body. */
const ofHead: ReadonlySet<string> = new Set('html head base link meta noscript script style template title'.split(' '));

/** The `meta` elements in the head of a page, by their `http-equiv` or `name`. The first of a name counts. */
function metaOf(html: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  readStartTags(html, ({ name: tag, attributes }) => {
    if (!ofHead.has(tag)) return 'stop';
    if (tag !== 'meta') return undefined;
    const valueOf = (wanted: string) => attributes.find(({ name }) => name === wanted)?.value;
    const of = (valueOf('http-equiv') ?? valueOf('name'))?.toLowerCase();
    if (of !== undefined && !found.has(of)) found.set(of, valueOf('content') ?? '');
    return undefined;
  });
  return found;
}

/** Target of a page of the bundle that is only a redirect, and its permanence; undefined for all other pages. Pure. */
export function redirectOf(html: string, file: string, site: SiteAddresses): Redirection | undefined {
  const meta = metaOf(html);
  const written = /^0; url=(.*)$/s.exec(meta.get('refresh') ?? '')?.[1];
  if (written === undefined) return undefined;
  const target = addressesOn(file, site)(written, 'link') ?? written;
  // The address is encoded for a header.
  const address = target
    .toWellFormed()
    .trim()
    .replaceAll(/[^\u0021-\u007e]/gu, encodeURIComponent);
  return { to: address === '' ? '/' : address, permanent: meta.get('redirect') === 'permanent' };
}

/**
 * The policy of a page as a header: a server's pages load nothing from folders, and only the site may frame them. Pages of an air-gapped site load
 * nothing from other servers either, but may send requests: the playground calls servers inside the network. Pure.
 */
export function policyOf(html: string, isAirGapped = false): string | undefined {
  const found = metaOf(html).get('content-security-policy');
  if (found === undefined || /[^\u0020-\u007e]/.test(found)) return undefined;
  const policy = found.replaceAll(' file:', '');
  const ofPlace = isAirGapped
    ? policy.replace(/\b(script|style|img|media|font|frame)-src [^;]*/g, withoutServers)
    : policy;
  return `${ofPlace}; frame-ancestors 'self'`;
}

const withoutServers = (directive: string): string => directive.replaceAll(/ https?:(?= |$)/g, '');
