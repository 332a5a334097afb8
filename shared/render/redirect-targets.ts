import type { SiteModel } from '#shared/docs-project/site-model.ts';
import { classifyUrl } from './url-policy.ts';

const MAX_HOPS = 10;

/**
 * Follows redirects without wildcards to where they end: a page path of the export, or an https address. Those that loop, end nowhere
 * or shadow a page are left out. Sources are `/`-rooted without a slash at the end.
 */
export function redirectTargets(
  redirects: SiteModel['redirects'],
  isPage: (path: string) => boolean,
): Map<string, string> {
  const next = new Map<string, string>();
  for (const { source, destination } of redirects) {
    if (!/[*:]/.test(source)) next.set(rooted(source), destination);
  }
  const ends = new Map<string, string>();
  for (const source of next.keys()) {
    if (isPage(pagePathOf(source))) continue;
    let at: string | undefined = source;
    for (let hops = 0; hops < MAX_HOPS && at !== undefined; hops++) {
      const target: string | undefined = next.get(at);
      if (target === undefined) break;
      const url = classifyUrl(target);
      if (url.kind === 'external' && url.href.startsWith('https:')) ends.set(source, url.href);
      if (url.kind !== 'path') break;
      const path = rooted(url.path);
      if (isPage(pagePathOf(path))) {
        ends.set(source, pagePathOf(path) + url.hash);
        break;
      }
      at = path;
    }
  }
  return ends;
}

/** `/guides/x/` → `guides/x`; `/` → `index`. */
export function pagePathOf(rootedPath: string): string {
  const path = rootedPath.replace(/^\/+|\/+$/g, '');
  return path === '' ? 'index' : path;
}

const rooted = (path: string): string => `/${path.replace(/^\/+|\/+$/g, '')}`;
