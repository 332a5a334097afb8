import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { cacheFolder } from '#infra/setup/server-locations.mjs';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { sha256Hex } from '#shared/contracts/identifiers.ts';
import { InvalidProject, quoted } from '#shared/docs/project/diagnostics.ts';
import type { NamedFiles, ProjectFiles } from '#shared/docs/project/project-files.ts';
import { addressesNamedIn, type NamedAddress } from '#shared/docs/reference/named-addresses.ts';
import { isReplaced, notInUpload, remoteFile, remoteManifestPath } from '#shared/docs/reference/remote-files.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';

const mostAddresses = 100;
const mostBytes = 64 * 1024 * 1024;
const atOnce = 4;

export type RemoteOptions = {
  /** Also allows addresses of this machine and of private networks. */
  allowPrivate: boolean;
  /** If false, only earlier copies are used. */
  fetch?: boolean;
  /** Folder of the last copies. */
  cache?: string;
  now?: () => Date;
};

/**
 * Files for the archive of a project, and diagnostics for its author. `withoutSaid` removes findings of a publication that repeat these
 * diagnostics.
 */
export type RemoteDescriptions = {
  files: Map<string, Uint8Array>;
  diagnostics: Diagnostic[];
  withoutSaid: (found: readonly Diagnostic[]) => Diagnostic[];
};

export const noDescriptions: RemoteDescriptions = {
  files: new Map(),
  diagnostics: [],
  withoutSaid: (found) => [...found],
};

const copySchema = z.object({
  address: z.string(),
  fetchedAt: z.iso.datetime(),
  sha256: sha256Hex,
  format: z.enum(['json', 'yaml']),
});
type Copy = z.infer<typeof copySchema> & { bytes: Uint8Array };

/**
 * The API descriptions that a project names by address, each fetched once. If that fails, the last copy is used, with a diagnostic. The files are
 * added to the project below `_remote/`, with a list of addresses, times and digests. A project that cannot be read yields none: its reader reports
 * the error.
 */
export async function remoteDescriptions(
  project: NamedFiles,
  { allowPrivate, fetch = true, cache = join(cacheFolder(), 'descriptions'), now = () => new Date() }: RemoteOptions,
): Promise<RemoteDescriptions> {
  const named = await addressesNamedIn(project).catch((error: unknown) => {
    if (error instanceof InvalidProject) return new Map<string, NamedAddress>();
    throw error;
  });
  const own = new Set(project.files.map(({ path }) => path));
  const isOwn = (address: string): boolean =>
    own.has(remoteFile(address, 'json')) || own.has(remoteFile(address, 'yaml'));
  if (named.size === 0) return noDescriptions;
  // The parsers of descriptions are loaded on demand, because they are large and few projects need them.
  const { fetchDescription, NotFetched } = await import('./fetch-description.ts');
  const diagnostics: Diagnostic[] = [];
  const say = (code: string, message: string, { file, line }: Partial<NamedAddress> = {}): void =>
    void diagnostics.push({
      severity: 'warning',
      code,
      message,
      file: file ?? '',
      ...(line !== undefined && { line }),
    });
  const said = new Set<string>();
  const copies = await inParallel([...named].slice(0, mostAddresses), atOnce, async ([address, place]) => {
    const kept = await lastCopy(cache, address);
    if (!fetch) return kept;
    try {
      const { bytes, format } = await fetchDescription(address, { allowPrivate });
      const copy = { address, fetchedAt: now().toISOString(), sha256: sha256Of(bytes), format, bytes };
      await keepCopy(cache, copy).catch(() => undefined);
      return copy;
    } catch (error) {
      if (!(error instanceof NotFetched)) throw error;
      const problem = `The API description ${quoted(address)} cannot be fetched: ${error.message}.`;
      if (kept !== undefined) say('openapi-copy-used', `${problem} The copy of ${kept.fetchedAt} is used.`, place);
      else if (isOwn(address)) say('openapi-copy-used', `${problem} The copy in the project is used.`, place);
      else {
        say('openapi-fetch-failed', `${problem} Its pages are missing.`, place);
        for (const written of place.written) said.add(notInUpload.message(written));
      }
      return kept;
    }
  });
  if (named.size > mostAddresses)
    say(
      'openapi-fetch-failed',
      `The project names ${named.size} API descriptions by address; ${mostAddresses} are fetched.`,
    );
  const files = new Map<string, Uint8Array>();
  const listed: object[] = [];
  let total = 0;
  for (const copy of copies) {
    if (copy === undefined) continue;
    const { bytes, format, ...facts } = copy;
    total += bytes.length;
    if (total > mostBytes) {
      say('openapi-too-large', `${quoted(copy.address)} is left out: together with those before it, it exceeds 64 MB.`);
      continue;
    }
    const file = remoteFile(copy.address, format);
    files.set(file, bytes);
    listed.push({ ...facts, file, sizeBytes: bytes.length });
  }
  if (listed.length > 0)
    files.set(
      remoteManifestPath,
      Buffer.from(`${JSON.stringify({ formatVersion: 1, descriptions: listed }, null, 1)}\n`),
    );
  const isSaid = ({ code, message }: Diagnostic): boolean => code === notInUpload.code && said.has(message);
  return { files, diagnostics, withoutSaid: (found) => found.filter((finding) => !isSaid(finding)) };
}

/** A project with these files, which replace its own copies of the same addresses. */
export function withFiles(project: ProjectFiles, files: ReadonlyMap<string, Uint8Array>): ProjectFiles {
  if (files.size === 0) return project;
  return {
    files: [
      ...project.files.filter(({ path }) => !isReplaced(path, files)),
      ...[...files].map(([path, bytes]) => ({ path, sha256: sha256Of(bytes), sizeBytes: bytes.length })),
    ].sort((a, b) => (a.path < b.path ? -1 : 1)),
    read: (path, maxBytes) => {
      const bytes = files.get(path);
      return bytes === undefined ? project.read(path, maxBytes) : Promise.resolve(bytes.subarray(0, maxBytes));
    },
  };
}

const nameOf = (address: string): string => sha256Of(address).slice(0, 32);

/** The copy of an earlier fetch; undefined if there is none, or it is incomplete. */
async function lastCopy(cache: string, address: string): Promise<Copy | undefined> {
  try {
    const file = join(cache, nameOf(address));
    const facts = copySchema.parse(JSON.parse(await readFile(`${file}.json`, 'utf8')));
    const bytes = await readFile(`${file}.copy`);
    return facts.address === address && facts.sha256 === sha256Of(bytes) ? { ...facts, bytes } : undefined;
  } catch {
    return undefined;
  }
}

/** Stores a copy. Two runs may write the same copy at once; a mix of both has the wrong digest and is ignored. */
async function keepCopy(cache: string, { bytes, ...facts }: Copy): Promise<void> {
  await mkdir(cache, { recursive: true });
  const file = join(cache, nameOf(facts.address));
  for (const [path, content] of [
    [`${file}.copy`, bytes],
    [`${file}.json`, JSON.stringify(facts)],
  ] as const) {
    const part = `${path}.${process.pid}.part`;
    try {
      await writeFile(part, content, { mode: 0o600 });
      await rename(part, path);
    } finally {
      await rm(part, { force: true });
    }
  }
}
