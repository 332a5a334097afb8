import {
  isJsonObject,
  jsonCopy,
  type JsonObject,
  type JsonValue,
  listOf,
  objectOf,
  objectsOf,
  textOf,
  textsOf,
} from './json-values.ts';
import { isExternalHref } from './url-policy.ts';

/** Converts `mint.json`, the format before `docs.json`, into the shape of `docs.json`. */
export function docsFromMint(mint: JsonObject): JsonObject {
  const modeToggle = objectOf(mint['modeToggle']);
  const callToAction = objectOf(mint['topbarCtaButton']);
  const api = objectOf(mint['api']);
  const docs = {
    $schema: mint['$schema'],
    name: mint['name'],
    description: mint['description'],
    theme: textOf(mint['theme']) ?? 'mint',
    colors: { ...objectOf(mint['colors']) },
    logo: mint['logo'],
    favicon: mint['favicon'],
    appearance: { default: modeToggle['default'], strict: modeToggle['isHidden'] === true },
    fonts: mint['font'],
    background:
      mint['background'] ?? (mint['backgroundImage'] === undefined ? undefined : { image: mint['backgroundImage'] }),
    navbar: {
      links: objectsOf(mint['topbarLinks']).map(linkOf),
      primary: Object.keys(callToAction).length === 0 ? undefined : linkOf(callToAction),
    },
    footer: { socials: socialsOf(mint['footerSocials']), links: objectOf(mint['footer'])['links'] },
    integrations: mint['integrations'] ?? mint['analytics'],
    redirects: mint['redirects'],
    seo: {
      indexing: objectOf(mint['seo'])['indexHiddenPages'] === true ? 'all' : undefined,
      metatags: mint['metadata'],
    },
    styling: {
      eyebrows: mint['eyebrow'] ?? objectOf(mint['layout'])['eyebrow'],
      codeblocks: objectOf(mint['codeBlock'])['mode'],
    },
    search: mint['search'],
    api: {
      openapi: mint['openapi'],
      asyncapi: mint['asyncapi'],
      mdx: { server: api['baseUrl'], auth: api['auth'] },
    },
    navigation: navigationOf(mint),
  };
  return jsonCopy<object>(docs) as JsonObject;
}

const linkOf = (link: JsonObject) => ({
  label: link['name'] ?? link['label'],
  href: link['url'] ?? link['href'],
  type: link['type'],
});

function socialsOf(value: JsonValue | undefined): JsonValue | undefined {
  if (!Array.isArray(value)) return value;
  const socials: JsonObject = {};
  for (const { type, url } of objectsOf(value)) if (typeof type === 'string' && url !== undefined) socials[type] = url;
  return socials;
}

/** In `mint.json` a tab or anchor owns the groups whose pages are in its folder. The other groups form the first tab. */
function navigationOf(mint: JsonObject): object | undefined {
  if (mint['navigation'] === undefined) return undefined;
  let groups = listOf(mint['navigation']);
  const take = (url: string): JsonValue[] => {
    const prefix = url.replace(/^\/|\/$/g, '');
    const owned = groups.filter((group) => inFolder(group, prefix));
    groups = groups.filter((group) => !owned.includes(group));
    return owned;
  };
  const divisions = (value: JsonValue | undefined, kind: 'tab' | 'anchor') =>
    objectsOf(value).map((item) => {
      const url = textOf(item['url']) ?? '';
      const own = { [kind]: item['name'] ?? url, icon: item['icon'], hidden: item['isDefaultHidden'] === true };
      if (isExternalHref(url)) return { ...own, href: url };
      return { ...own, groups: take(url) };
    });
  const tabs = divisions(mint['tabs'], 'tab');
  const anchors = divisions(mint['anchors'], 'anchor');
  const version = versionsOf(mint['versions']);
  const global = { anchors };
  if (tabs.length > 0) {
    const first = textOf(objectOf(mint['primaryTab'])['name']) ?? 'Documentation';
    return { global, tabs: [{ tab: first, groups }, ...tabs] };
  }
  if (version.length === 0) return { global, groups };
  const isCommon = (group: JsonValue): boolean => textOf(objectOf(group)['version']) === undefined;
  const versions = version.map((name) => ({
    version: name,
    groups: groups.filter((group) => isCommon(group) || textOf(objectOf(group)['version']) === name),
  }));
  return { global, versions };
}

function versionsOf(value: JsonValue | undefined): string[] {
  return listOf(value).flatMap((item) => (isJsonObject(item) ? textsOf(item['name']) : textsOf(item)));
}

function inFolder(group: JsonValue, folder: string, depth = 0): boolean {
  if (typeof group === 'string') return group.replace(/^\//, '').startsWith(`${folder}/`);
  const [first] = listOf(objectOf(group)['pages']);
  return folder !== '' && depth < 32 && first !== undefined && inFolder(first, folder, depth + 1);
}
