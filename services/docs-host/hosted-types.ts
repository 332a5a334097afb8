import { lookup as typeOf } from 'mrmime';

/** The media type of a file of a bundle. Types that browsers show as text have its encoding. Pure. */
export function contentType(path: string): string {
  const type = ownTypes[/\.[^./]+$/.exec(path)?.[0] ?? ''] ?? knownType(path) ?? 'application/octet-stream';
  return isText(type) && !/^(font|image)\//.test(type) ? `${type}; charset=utf-8` : type;
}

/** mrmime also finds the properties of every object, such as `constructor`. */
function knownType(path: string): string | undefined {
  const found: unknown = typeOf(path);
  return typeof found === 'string' ? found : undefined;
}

const ownTypes: Readonly<Record<string, string>> = {
  '.eot': 'application/vnd.ms-fontobject',
  '.ico': 'image/x-icon',
  '.md': 'text/markdown',
  '.mdx': 'text/markdown',
  '.yaml': 'text/yaml',
  '.yml': 'text/yaml',
  '.ts': 'text/plain',
};

/** True for media types whose files become smaller by compression. */
export const isText = (type: string): boolean =>
  /^text\/|[/+](json|xml|javascript|yaml)\b|^image\/(svg\+xml|x-icon|bmp)|^font\/(ttf|otf)|wasm|manifest/.test(type);

/** The host's own settings for pages, served instead of the bundle's file. */
export const configPath = '_bindery/config.js';

/** True for files of the search index, which has the text of every page. */
export const isSearchIndex = (path: string): boolean => /^_bindery\/search(-index\.js$|\/)/.test(path);

/**
 * True if a file may have an address that names its bytes or its version. Such an address is cached for a year, and is answered after the version is
 * replaced, so it is only for files that display a page: scripts, styles, fonts and pictures. Content has no such address, because withdrawn text
 * would still be served. Pure.
 */
export const mayBeVersioned = (path: string): boolean =>
  path !== configPath &&
  !isSearchIndex(path) &&
  /^(text\/(css|javascript)\b|font\/|image\/|application\/vnd\.ms-fontobject)/.test(contentType(path));
