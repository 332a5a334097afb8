import { sha256Of } from '#shared/runtime/canonical-json.ts';

/**
 * API descriptions that a project names by an address are fetched on the author's machine, and lie in this folder of the archive, each under the hash
 * of its address: a reader of the archive finds the copy of an address that the project names, and no list can make it read another one.
 */
const folder = '_remote/';

/** Says for people and programs which file is which address, of when, and with which digest. Nothing that is rendered depends on it. */
export const remoteManifestPath = `${folder}manifest.json`;

/** Project files that hold fetched descriptions, or the list of them. They are no files of the site. */
export const isRemoteFile = (path: string): boolean =>
  path === remoteManifestPath || /^_remote\/[0-9a-f]{32}\.(?:json|yaml)$/.test(path);

/** An address as it is asked; undefined for a text that is no http(s) address. */
export function remoteAddress(text: string): string | undefined {
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  if (url === null) return undefined;
  url.hash = '';
  return url.href;
}

export type RemoteFormat = 'json' | 'yaml';

export const remoteFile = (address: string, format: RemoteFormat): string =>
  `${folder}${sha256Of(address).slice(0, 32)}.${format}`;

/** Project files that may hold the copy of an address; none for a text that is no address as it is asked. */
export function copiesOf(address: string): string[] {
  if (remoteAddress(address) !== address) return [];
  return (['json', 'yaml'] as const).map((format) => remoteFile(address, format));
}

/** Whether one of `files` stands for this file of a project: the copy of an address may have been JSON, and be YAML now. */
export function isReplaced(path: string, files: ReadonlyMap<string, unknown>): boolean {
  if (!isRemoteFile(path)) return files.has(path);
  return ['json', 'yaml'].some((format) => files.has(path.replace(/[^.]+$/, format)));
}
