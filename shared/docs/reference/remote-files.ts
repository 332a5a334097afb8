import { quoted } from '#shared/docs/project/diagnostics.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';

/**
 * API descriptions that a project names by address are fetched on the author's machine, and stored in this folder of the archive, each under the hash
 * of its address. So the server finds the copy of an address that the project names, and no manifest can make it read another one.
 */
const folder = '_remote/';

/** Lists, for people and tools, the address of each file, with the time and digest. Rendering does not use it. */
export const remoteManifestPath = `${folder}manifest.json`;

/** True for project files with fetched descriptions, or their manifest. They are not files of the site. */
export const isRemoteFile = (path: string): boolean =>
  path === remoteManifestPath || /^_remote\/[0-9a-f]{32}\.(?:json|yaml)$/.test(path);

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

export type RemoteFormat = 'json' | 'yaml';

/** Path in the archive of the copy of an address. */
export const remoteFile = (address: string, format: RemoteFormat): string =>
  `${folder}${sha256Of(address).slice(0, 32)}.${format}`;

/** Project files that may hold the copy of an address; none if the text is not an address in its requested form. */
export function copiesOf(address: string): string[] {
  if (remoteAddress(address) !== address) return [];
  return (['json', 'yaml'] as const).map((format) => remoteFile(address, format));
}

/** True if `files` replaces this file of a project: the copy of an address may change from JSON to YAML. */
export function isReplaced(path: string, files: ReadonlyMap<string, unknown>): boolean {
  if (!isRemoteFile(path)) return files.has(path);
  return ['json', 'yaml'].some((format) => files.has(path.replace(/[^.]+$/, format)));
}
