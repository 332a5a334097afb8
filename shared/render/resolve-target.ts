import { pageFile } from './bundle-href.ts';
import { pagePathOf } from './redirect-targets.ts';
import type { SiteIndex } from './site-index.ts';

/**
 * Where a `/`-rooted target of a page leads: the bundle file of a page or asset, an https address that a redirect names, or null.
 * Pages may be named as `/guides/x`, `/guides/x.mdx`, `/guides` for `guides/index`, or through a redirect.
 */
export function resolveTarget(index: SiteIndex, target: string): string | null {
  const path = pagePathOf(decoded(target));
  if (index.files.has(path)) return path;
  const page = pageNamed(index, path);
  if (page !== undefined) return pageFile(page);
  if (path.endsWith('.md') && index.exported.has(path.slice(0, -3))) return path;
  const redirected = index.redirects.get(`/${path}`);
  if (redirected === undefined) return null;
  if (redirected.startsWith('https:')) return redirected;
  const [to = '', anchor] = redirected.split('#');
  return pageFile(to) + (anchor === undefined ? '' : `#${anchor}`);
}

function pageNamed(index: SiteIndex, path: string): string | undefined {
  const names = [path, `${path}/index`, path.replace(/\.(mdx|html)$/, ''), path.replace(/\/(index|README)$/, '')];
  return names.find((name) => index.exported.has(name));
}

function decoded(target: string): string {
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}
