import { quoted } from '#shared/docs/project/diagnostics.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';

/**
 * Files that a project names by address are fetched on the author's machine, and stored in this folder of the archive, each under the hash of its
 * address. So the server finds the copy of an address that the project names, and no manifest can make it read another one.
 */
const folder = '_remote/';

/** Lists, for people and tools, the address of each file, with its digest. Rendering does not use it. */
export const remoteManifestPath = `${folder}manifest.json`;

/** Addresses, digests, sizes and types of the fetched files: a file of the project's folder that is never published. */
export const lockFile = 'docs.lock.json';

/** Formats of fetched files, which are the extensions of the copies. */
const descriptionFormats = ['json', 'yaml'] as const;
export const fontFormats = ['woff2', 'woff', 'ttf', 'otf'] as const;
const pictureFormats = ['png', 'jpg', 'gif', 'webp', 'avif', 'svg', 'ico'] as const;
export type RemoteFormat =
  | (typeof descriptionFormats)[number]
  | (typeof fontFormats)[number]
  | (typeof pictureFormats)[number]
  | 'css';
const allFormats: readonly RemoteFormat[] = [...descriptionFormats, ...fontFormats, ...pictureFormats, 'css'];

/** True for project files with fetched descriptions or style sheets of fonts, or the manifest. They are not files of the site; fonts and pictures are. */
export const isRemoteFile = (path: string): boolean =>
  path === remoteManifestPath || /^_remote\/[0-9a-f]{32}\.(?:json|yaml|css)$/.test(path);

/** An address in the form in which it is requested; undefined for a text that is not an http(s) address. */
export function remoteAddress(text: string): string | undefined {
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  if (url === null) return undefined;
  url.hash = '';
  return url.href;
}

/** Finding about an address without a copy in the upload. `written`: the address as the author wrote it. */
export const notInUpload = {
  code: 'openapi-not-fetched' as const,
  message: (written: string): string =>
    `The API description ${quoted(written)} is not in this upload, and servers do not fetch descriptions. Publish with "bindery publish", which fetches it on your machine, or add the file to the project and name it.`,
};

/** Path in the archive of the copy of an address, without its extension. */
export const remoteStem = (address: string): string => `${folder}${sha256Of(address).slice(0, 32)}`;

/** Path in the archive of the copy of an address. */
export const remoteFile = (address: string, format: RemoteFormat): string => `${remoteStem(address)}.${format}`;

/** The stem of a path in the archive that a fetched file can have; undefined for other paths. */
export const stemOf = (path: string): string | undefined => /^(_remote\/[0-9a-f]{32})\.[a-z0-9]+$/.exec(path)?.[1];

/** Project files that may hold the copy of an API description; none if the text is not an address in its requested form. */
export const copiesOf = (address: string): string[] => copiesIn(address, descriptionFormats);

/** Project files that may hold the copy of an address in one of these formats; none if the text is not an address in its requested form. */
export function copiesIn(address: string, formats: readonly RemoteFormat[]): string[] {
  if (remoteAddress(address) !== address) return [];
  return formats.map((format) => remoteFile(address, format));
}

/** True if `files` replaces this file of a project: the copy of an address may change from JSON to YAML. */
export function isReplaced(path: string, files: ReadonlyMap<string, unknown>): boolean {
  const stem = stemOf(path);
  return files.has(path) || (stem !== undefined && allFormats.some((format) => files.has(`${stem}.${format}`)));
}

/** True for the link target by which a page names the copy of a picture. */
export const isRemoteStem = (target: string): boolean => /^\/_remote\/[0-9a-f]{32}$/.test(target);
