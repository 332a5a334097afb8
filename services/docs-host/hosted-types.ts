import { lookup as typeOf } from 'mrmime';

/** The media type of a file of a bundle. Types that browsers show as text have its encoding. Pure. */
export function contentType(path: string): string {
  const type = ownTypes[/\.[^./]+$/.exec(path)?.[0] ?? ''] ?? typeOf(path) ?? 'application/octet-stream';
  return isText(type) && !/^(font|image)\//.test(type) ? `${type}; charset=utf-8` : type;
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

/** Whether files of a media type become smaller when they are compressed. */
export const isText = (type: string): boolean =>
  /^text\/|[/+](json|xml|javascript|yaml)\b|^image\/(svg\+xml|x-icon|bmp)|^font\/(ttf|otf)|wasm|manifest/.test(type);

/** What this server says of itself and the site, instead of the bundle's. */
export const configPath = '_bindery/config.js';

/** Whether a file is a part of the search index, which has the text of every page. */
export const isSearchIndex = (path: string): boolean => /^_bindery\/search(-index\.js$|\/)/.test(path);

/**
 * Whether a file may have an address that names its bytes or its version. Such an address is kept for a year, and is answered also after the
 * version is replaced, so it is only for what shows a page: scripts, styles, fonts and pictures. Nothing that readers read has one, else a
 * text that was taken back would go on being answered. Pure.
 */
export const mayBeVersioned = (path: string): boolean =>
  path !== configPath &&
  !isSearchIndex(path) &&
  /^(text\/(css|javascript)\b|font\/|image\/|application\/vnd\.ms-fontobject)/.test(contentType(path));
