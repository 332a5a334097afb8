import { posix } from 'node:path';
import { encodePath, pageAddress } from '#shared/docs/render/bundle-paths.ts';
import type { Redirection } from './wildcard-redirects.ts';

/** What a page's addresses become. */
export type SiteAddresses = {
  /** Path that the site is served under: `/docs`, or nothing. */
  base: string;
  /** Names this version in addresses. */
  token: string;
  /** First digits of the SHA-256 of a file's bytes, by its path in the bundle; undefined when there is no such file. */
  digestOf: (path: string) => string | undefined;
  /** Nothing of other servers is to be had where the site is read. */
  isAirGapped?: boolean;
};

/** Below it are files as one version has them. */
const versionedFolder = (base: string, token: string): string => `${base}/_bindery/@${token}/`;

/** Scripts that load others from their own folder. */
const loadsBesideItself = /^_bindery\/(diagrams|islands)\.js$/;

const configPath = '_bindery/config.js';

/**
 * A page of a bundle for a server. Its addresses are relative, which says nothing of the version they belong to and fails at `/guides` for
 * `guides/index.html`. Here links lead to pages by the address without extension, and everything that the page loads is named by its bytes
 * (`/_bindery/@<digest>/…`), style sheets by the version because they load files beside them: after a change of version an open page goes on
 * with its own files. `config.js` is this server's, and keeps its name. Where the site is air-gapped, pages load nothing of other servers. Texts of scripts and styles stay, for the policy names their hashes. Pure.
 */
export function rewritePage(html: string, file: string, site: SiteAddresses): string {
  const versioned = versionedFolder(site.base, site.token);
  const folder = posix.dirname(file);

  function address(written: string, form: Form): string {
    const text = decodeEntities(written);
    if (text === '' || /^([a-z][a-z0-9+.-]*:|\/\/|#|\?)/i.test(text)) return written;
    const end = /[?#]/.exec(text)?.index ?? text.length;
    const path = inBundle(folder, text.slice(0, end));
    if (path === undefined) return written;
    return encodeEntities(`${target(path, form)}${text.slice(end)}`);
  }

  function target(path: string, form: Form): string {
    if (form === 'root') return `${site.base}/`;
    const digest = site.digestOf(path);
    if (form === 'link' || path === configPath || digest === undefined) {
      const isPage = digest !== undefined && path.endsWith('.html');
      return site.base + (isPage ? pageOf(path) : `/${encodePath(path)}`);
    }
    return form === 'version' || loadsBesideItself.test(path)
      ? `${versioned}${encodePath(path)}`
      : `${versionedFolder(site.base, digest)}${encodePath(path)}`;
  }

  function pageOf(path: string): string {
    const found = pageAddress(path.slice(0, -'.html'.length));
    return found === '/' && site.base !== '' ? '' : found;
  }

  const rewriteTag = (name: string, attributes: string): string => {
    const isSheet = name === 'link' && /\srel="stylesheet"/.test(attributes);
    const isLink =
      name === 'a' ||
      name === 'area' ||
      (name === 'link' && /\srel="(prev|next|alternate|canonical)"/.test(attributes));
    const form: Form = isLink ? 'link' : isSheet ? 'version' : 'file';
    const changed = attributes.replace(
      /(\s)(href|src|poster|srcset|data-root|data-islands|data-fonts)="([^"]*)"/g,
      (_whole, space: string, attribute: string, value: string) => {
        // Pictures then show their text, and nobody waits for them.
        if (site.isAirGapped && !isLink && isElsewhere(attribute, decodeEntities(value)))
          return `${space}data-elsewhere-${attribute}="${value}"`;
        const text =
          attribute === 'srcset'
            ? value
                .split(',')
                .map((part) =>
                  part.replace(/^(\s*)(\S+)/, (_, before: string, url: string) => before + address(url, form)),
                )
                .join(',')
            : attribute === 'data-fonts'
              ? value
                  .split(' ')
                  .map((part) => address(part, 'version'))
                  .join(' ')
              : address(value, attribute === 'data-root' ? 'root' : form);
        return `${space}${attribute}="${text}"`;
      },
    );
    if (name !== 'html') return `<${name}${changed}>`;
    const root = /\sdata-root="/.test(changed) ? '' : ` data-root="${site.base}/"`;
    return `<html${changed}${root} data-files="${versioned}" data-page-end="">`;
  };

  let made = '';
  let copied = 0;
  for (const { start, name, attributesAt, end } of tagsIn(html)) {
    made += html.slice(copied, start) + rewriteTag(name, html.slice(attributesAt, end));
    copied = end + 1;
  }
  return made + html.slice(copied);
}

type Tag = { start: number; name: string; attributesAt: number; end: number };

/**
 * The start tags of a page, each once and in order: the one writer of HTML quotes and escapes every value. Texts of scripts and styles have
 * none. What comes after a tag, script or style without an end is not looked at, so that the time grows as the page does.
 */
function* tagsIn(html: string): Generator<Tag> {
  const tagStart = /<([a-z][a-z0-9-]*)(?=[\s>])/g;
  for (let found = tagStart.exec(html); found !== null; found = tagStart.exec(html)) {
    const [start = '', name = ''] = found;
    const attributesAt = found.index + start.length;
    const end = tagEnd(html, attributesAt);
    if (end === -1) return;
    const textEnd = name === 'script' || name === 'style' ? html.indexOf(`</${name}>`, end) : end;
    if (textEnd === -1) return;
    yield { start: found.index, name, attributesAt, end };
    tagStart.lastIndex = textEnd;
  }
}

/** Where a tag ends whose attributes begin at `from`: the first `>` outside of quotes; -1: nowhere. */
function tagEnd(html: string, from: number): number {
  const special = /[">]/g;
  special.lastIndex = from;
  for (let found = special.exec(html); found !== null; found = special.exec(html)) {
    if (found[0] === '>') return found.index;
    const closing = html.indexOf('"', found.index + 1);
    if (closing === -1) return -1;
    special.lastIndex = closing + 1;
  }
  return -1;
}

/** Whether a value is, or in a `srcset` has, an address of another server. */
const isElsewhere = (attribute: string, value: string): boolean =>
  (attribute === 'srcset' ? /(^|[\s,])(https?:)?\/\//i : /^(https?:)?\/\//i).test(value);

/** How an address is named: a link of readers, a file by its bytes, a file by the version, or where the site begins. */
type Form = 'link' | 'file' | 'version' | 'root';

/** The path in the bundle that an address of a page in `folder` names; undefined for one outside of it. */
function inBundle(folder: string, written: string): string | undefined {
  let path: string;
  try {
    path = decodeURIComponent(written);
  } catch {
    return undefined;
  }
  const joined = path.startsWith('/') ? path.slice(1) : posix.join(folder, path);
  const clean = posix.normalize(joined);
  return clean.startsWith('../') || clean === '..' ? undefined : clean.replace(/^\.\/?/, '');
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const decodeEntities = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] ?? '');
const encodeEntities = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&${Object.keys(entities).find((name) => entities[name] === character)};`);

/** Where a page of the bundle that only leads elsewhere leads to, and whether for good; undefined for all other pages. Pure. */
export function redirectOf(html: string, file: string, site: SiteAddresses): Redirection | undefined {
  const head = html.slice(0, html.indexOf('</head>'));
  const found = /<meta http-equiv="refresh" content="0; url=([^"]*)">/.exec(head)?.[1];
  if (found === undefined) return undefined;
  // As the link of a page would be: of tags, only links are rewritten to pages.
  const link = rewritePage(`<a href="${found}">`, file, site);
  const target = decodeEntities(link.slice('<a href="'.length, -'">'.length));
  // As a header has it.
  const address = target
    .toWellFormed()
    .trim()
    .replaceAll(/[^\u0021-\u007e]/gu, encodeURIComponent);
  return { to: address === '' ? '/' : address, permanent: head.includes('<meta name="redirect" content="permanent">') };
}

/**
 * The policy that a page carries, for the header: a server's pages load nothing from folders, and only the site may frame them. Those of an
 * air-gapped site load nothing of other servers either, but may send requests: the playground asks servers inside the walls. Pure.
 */
export function policyOf(html: string, isAirGapped = false): string | undefined {
  const found = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/.exec(html.slice(0, 8_192))?.[1];
  if (found === undefined || /[\r\n]/.test(found)) return undefined;
  const policy = decodeEntities(found).replaceAll(' file:', '');
  const ofPlace = isAirGapped
    ? policy.replace(/\b(script|style|img|media|font|frame)-src [^;]*/g, withoutServers)
    : policy;
  return `${ofPlace}; frame-ancestors 'self'`;
}

const withoutServers = (directive: string): string => directive.replaceAll(/ https?:(?= |$)/g, '');
