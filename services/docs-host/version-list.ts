import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { z } from 'zod';
import { sha256Hex } from '#shared/contracts/identifiers.ts';
import { deploymentTypes, wildcardRedirectsSchema } from '#shared/contracts/stored-objects.ts';
import { jsonIn, sha256Of } from '#shared/runtime/canonical-json.ts';
import { errorCode } from '#shared/runtime/failures.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { type Redirection, wildcardRedirects } from '#shared/docs/render/redirects.ts';
import { BundleRefused } from './bundle-refused.ts';
import type { NewContent, PartedBytes, StoredBytes } from './content-folder.ts';
import { contentType, isText } from './hosted-types.ts';
import { readWhole } from './read-whole.ts';
import {
  type LacksCopies,
  type Line,
  lineOf,
  linesIn,
  readShard,
  type Shard,
  type ShardBytes,
  shardOf,
  shardSchema,
  type SortedLines,
  sortedLines,
  storedLines,
  storeShards,
} from './sorted-lines.ts';

/*
 * The list of a version: `site.json`, its head, has the facts of the whole version, and names the shards that have one line for each file and each
 * redirect, sorted by name. A host can hold the lists of thousands of sites, because lines are parsed when they are looked up, and versions of a site
 * share the shards that are the same. Parsing a list of a hundred thousand lines at once would block readers of all sites.
 */

/** Format of the prepared files. A version with another number is prepared again, except one of the format before, which has all lines in one file. */
const formatVersion = 5;
const formatBefore = 4;

const storedBytes = z.object({ size: z.int().min(0), sha256: sha256Hex });

/** A line of a file. Every digest in it names a file of the site's content. */
const fileLineSchema = storedBytes.extend({
  /** Consecutive parts, each a stored file; absent if the bytes are one file. */
  parts: z.array(storedBytes).optional(),
  /** The file of the bundle, if the host answers with other bytes that it made. */
  source: storedBytes.optional(),
  /** True if the bundle has no file of this name. */
  added: z.literal(true).optional(),
  /** Number of the policy in `policies`. */
  policy: z.int().min(0).optional(),
  br: storedBytes.optional(),
  gzip: storedBytes.optional(),
  /** True if copies would not be smaller. */
  plain: z.literal(true).optional(),
});

const redirectLineSchema = z.object({
  to: z.string(),
  permanent: z.boolean(),
  /** The page of the bundle that redirects. */
  source: storedBytes.optional(),
});

/** Note on each page of a preview. */
const previewNoteSchema = z.object({
  label: z.string(),
  /** Day of the deployment, such as `2026-11-28`. */
  date: z.string(),
});

export type PreviewNote = z.infer<typeof previewNoteSchema>;

const aboutSchema = z.object({
  base: z.string(),
  isAirGapped: z.boolean(),
  preview: previewNoteSchema.optional(),
  /** Identifies, in addresses, the files that display the pages of this version. */
  token: z.string(),
  manifest: z.object({
    sha256: sha256Hex,
    domain: z.string(),
    label: z.string().optional(),
    contentVersion: z.string().optional(),
    deployment: z.enum(deploymentTypes),
  }),
  policies: z.array(z.string()),
  /** Redirects with wildcards, which apply if there is no page. */
  wildcards: wildcardRedirectsSchema.shape.redirects,
  /** True if compressed copies of some files are still to be made. */
  lacksCopies: z.literal(true).optional(),
});

type About = z.infer<typeof aboutSchema>;

const headSchema = aboutSchema.extend({
  shards: z.array(shardSchema),
  /** Shards with a line for each piece of the bundle (`held-pieces.ts`); none if the pieces are not known. */
  pieces: z.array(shardSchema),
});

type VersionHead = z.infer<typeof headSchema>;

/** The stored head with its digest, because a host answers from it without any further check. */
const storedHeadSchema = z.object({ formatVersion: z.literal(formatVersion), sha256: sha256Hex, head: headSchema });

const headBeforeSchema = aboutSchema.extend({ formatVersion: z.literal(formatBefore), lines: storedBytes });

/** A file as the host answers with it. */
export type HostedFile = PartedBytes & {
  /** First digits of the SHA-256 of the file in the bundle, which addresses name. */
  digest: string;
  type: string;
  isPage: boolean;
  source?: StoredBytes | undefined;
  /** True if the bundle has no file of this name. */
  isAdded: boolean;
  policy?: string | undefined;
  br?: StoredBytes | undefined;
  gzip?: StoredBytes | undefined;
  /** True if copies would not be smaller. */
  plain?: true | undefined;
  /** True if its copies are still to be made, so that answers compress its bytes. */
  lacksCopies?: true | undefined;
};

/** A redirect, and the page of the bundle that makes it. */
export type HostedRedirect = Redirection & { source?: StoredBytes | undefined };

/** How the pages of a version were made. A version that was made in another way is prepared again. */
export type Making = Pick<About, 'base' | 'isAirGapped' | 'preview'>;

/** The files and redirects of one version. */
export type VersionList = Omit<About, 'wildcards'> & {
  /** The shards of the list, or one that stands for all lines of a version of the format before. */
  shards: readonly Shard[];
  pieces: readonly Shard[];
  /** True if the shards are files of the content, which a new version can name. */
  isShared: boolean;
  /** Memory that the list takes beside its shards. */
  headBytes: number;
  /** The bytes of a shard. */
  load: (shard: Shard) => ShardBytes;
  /** Number of the shard with the line of a name. */
  placeOf: (name: string) => number;
  /** The file of the bundle with this path, which the list may have as a page, another file or a redirect. */
  bundled(path: string): PartedBytes | undefined;
  has(path: string): boolean;
  file(path: string): HostedFile | undefined;
  /** The redirect of a page address: `/old`. */
  redirect(source: string): Redirection | undefined;
  /** The redirect of a path without a page. */
  wildcard(path: string): Redirection | undefined;
  files(): Iterable<[path: string, file: HostedFile]>;
  /** All lines as they are stored, in their order. */
  lines(): Iterable<ListLine>;
  linesOf(shard: Shard): Iterable<ListLine>;
  /** The redirects with wildcards as they are stored. */
  wildcards: About['wildcards'];
};

/** A line of a list. `bundled`: the file of the bundle that it stands for, with its path. */
export type ListLine = Line & { bundled: [path: string, bytes: PartedBytes] | undefined };

export const headFile = 'site.json';
/** All lines of a version of the format before. */
const linesFile = 'site.list';

const digestLength = 16;
export const shortDigest = (sha256: string): string => sha256.slice(0, digestLength);

/** Facts of a new version. */
export type NewHead = Omit<About, 'lacksCopies'> & { pieces: readonly Shard[] };

/**
 * Writes the list of a version; the head, which names the shards, is written last. `kept`: lines of an earlier list, which refer to the first policies
 * of the head. Throws `BundleRefused` for names that no list can have.
 */
export async function writeVersionList(
  folder: string,
  content: NewContent,
  about: NewHead,
  files: ReadonlyMap<string, HostedFile>,
  redirects: ReadonlyMap<string, HostedRedirect>,
  kept: readonly Buffer[] = [],
): Promise<void> {
  const { policies, lines } = linesFor(about.policies, files, redirects);
  const shards = await storeShards(content, [...kept, ...lines.values()], isToCopyLater);
  await writeHead(folder, { ...about, policies }, shards);
}

/** The lines of files and redirects by their names, and the policies that they refer to, which begin with those before. */
export function linesFor(
  before: readonly string[],
  files: ReadonlyMap<string, HostedFile>,
  redirects: ReadonlyMap<string, HostedRedirect>,
): { policies: string[]; lines: Map<string, Buffer> } {
  const policies = [...new Set([...before, ...[...files.values()].flatMap(({ policy }) => policy ?? [])])];
  const numbers = new Map(policies.map((policy, at) => [policy, at]));
  const lines = new Map<string, Buffer>();
  for (const [path, { size, sha256, parts, source, isAdded, policy, br, gzip, plain }] of files)
    lines.set(
      path,
      lineOf(path, {
        size,
        sha256,
        ...(parts && { parts: [...parts] }),
        ...(source && { source }),
        ...(isAdded && { added: true }),
        ...(policy !== undefined && { policy: numbers.get(policy) }),
        br,
        gzip,
        plain,
      } satisfies z.input<typeof fileLineSchema>),
    );
  for (const [name, { to, permanent, source }] of redirects) lines.set(name, lineOf(name, { to, permanent, source }));
  return { policies, lines };
}

/** Writes the head of a version. */
export async function writeHead(folder: string, about: NewHead, shards: readonly Shard[]): Promise<void> {
  const lacksCopies = shards.some((shard) => shard.lacksCopies === true);
  const head = {
    ...about,
    pieces: [...about.pieces],
    ...(lacksCopies && { lacksCopies: true as const }),
    shards: [...shards],
  } satisfies VersionHead;
  const stored = { formatVersion, sha256: sha256Of(JSON.stringify(head)), head };
  await writeFile(join(folder, headFile), JSON.stringify(stored));
}

/** The stored files that a line, a shard, or a head names. A name in it may look like a digest; then one file too many is returned. */
export function storedIn(lines: Buffer): StoredBytes[] {
  const text = lines.toString('latin1');
  return [...text.matchAll(/"size":(\d+),"sha256":"([0-9a-f]{64})"(,"parts":)?/g)].flatMap(
    ([, size = '', sha256 = '', hasParts]) => (hasParts === undefined ? [{ size: Number(size), sha256 }] : []),
  );
}

/** Size limit of a list. Three lists exist while a version is replaced. */
const mostListBytes = Math.floor(getHeapStatistics().heap_size_limit / 10);
const readAtOnce = 8;

/**
 * The list of a version, with all lines in memory; undefined if there is none, it is damaged, or another program wrote it. `known`: shards that are in memory
 * already. Throws `BundleRefused` for a list that is too long for the memory of this process.
 */
export async function readVersionList(
  folder: string,
  content: string,
  known: (sha256: string) => ShardBytes | undefined = () => undefined,
): Promise<VersionList | undefined> {
  const head = await readHead(folder);
  if (head === undefined) return undefined;
  const size = head.shards.reduce((sum, shard) => sum + shard.size, 0);
  if (size > mostListBytes)
    throw new BundleRefused(
      `the bundle has so many files that their list has ${size} bytes, and this process has memory for ${mostListBytes}`,
    );
  if (!head.isShared) {
    const lines = await linesBefore(folder, head.shards);
    return lines && listOf(head, sortedLines(head.shards, lines), lines);
  }
  const lines = await readLines(content, head.shards, known);
  return lines && listOf(head, lines, lines.load);
}

/** Reads the shards that are not `known`; undefined if one is damaged. */
async function readLines(
  content: string,
  shards: readonly Shard[],
  known: (sha256: string) => ShardBytes | undefined,
): Promise<SortedLines | undefined> {
  const read = new Map<string, ShardBytes>();
  await inParallel(shards, readAtOnce, async (shard) => {
    const bytes = known(shard.sha256) ?? (await readShard(content, shard));
    if (bytes !== undefined) read.set(shard.sha256, bytes);
  });
  if (shards.some(({ sha256 }) => !read.has(sha256))) return undefined;
  return sortedLines(shards, ({ sha256 }) => read.get(sha256) as ShardBytes);
}

/**
 * The list of a version whose shards are read synchronously, when they are needed: for a process that may wait. Looking up a line throws `DamagedShard`.
 * Undefined if there is no list, its head is damaged, or another program wrote it.
 */
export async function openVersionList(folder: string, content: string): Promise<VersionList | undefined> {
  const head = await readHead(folder);
  if (head?.isShared !== true) return await readVersionList(folder, content);
  const lines = storedLines(content, head.shards);
  return listOf(head, lines, lines.load);
}

type ReadHead = VersionHead & { isShared: boolean };

async function readHead(folder: string): Promise<ReadHead | undefined> {
  const value = await readFile(join(folder, headFile), 'utf8').then(jsonIn, (error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  const stored = storedHeadSchema.safeParse(value).data;
  if (stored !== undefined) {
    // The digest is of the head as it was written, before the schema left anything out.
    const { head } = value as { head: object };
    return sha256Of(JSON.stringify(head)) === stored.sha256 ? { ...stored.head, isShared: true } : undefined;
  }
  const before = headBeforeSchema.safeParse(value).data;
  if (before === undefined) return undefined;
  const { lines, formatVersion: _, ...about } = before;
  const { lacksCopies } = about;
  const all = { first: '', lines: 1, ...lines, ...(lacksCopies && { lacksCopies }) };
  return { ...about, shards: lines.size === 0 ? [] : [all], pieces: [], isShared: false };
}

/** All lines of a version of the format before, as the bytes of its only shard. */
async function linesBefore(
  folder: string,
  [all]: readonly Shard[],
): Promise<((shard: Shard) => ShardBytes) | undefined> {
  if (all === undefined) return () => shardOf(Buffer.alloc(0));
  const bytes = await readWhole(join(folder, linesFile), all.size).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (bytes === undefined || sha256Of(bytes) !== all.sha256) return undefined;
  const shard = shardOf(bytes);
  return () => shard;
}

/** The lines of the pieces of a version's bundle (`held-pieces.ts`), in memory; undefined if they are not known or damaged. */
export async function readPieceLines(folder: string, content: string): Promise<SortedLines | undefined> {
  const { pieces = [] } = (await readHead(folder)) ?? {};
  return pieces.length === 0 ? undefined : await readLines(content, pieces, () => undefined);
}

/** Bytes that the list of a version has on disk, 0 for one without. */
export async function listBytes(folder: string): Promise<number> {
  const { shards = [], pieces = [] } = (await readHead(folder)) ?? {};
  return [...shards, ...pieces].reduce((sum, { size }) => sum + size, 0);
}

/** The shards of a version that are files of the content, and the bytes in its own folder that name further files. */
export type ListParts = { shards: readonly Shard[]; own: readonly Buffer[] };

/** The parts of a version's list. Rejects if there is no list, or its head is damaged. */
export async function readListParts(folder: string): Promise<ListParts> {
  const head = await readHead(folder);
  if (head === undefined) throw new Error(`the list of the version in ${folder} cannot be read`);
  if (head.isShared) return { shards: [...head.shards, ...head.pieces], own: [] };
  return { shards: [], own: [await readFile(join(folder, linesFile))] };
}

/** Memory of a list beside its lines: its parsed head, and the settings script that is made from it. */
const headBytes = 8 * 1024;
/** Memory of a shard in a parsed head. */
const shardHeadBytes = 400;

function listOf(
  { policies, wildcards, ...about }: ReadHead,
  lines: SortedLines,
  load: (shard: Shard) => ShardBytes,
): VersionList {
  const { lacksCopies } = about;

  function fileOf(path: string, value: Buffer): HostedFile {
    const { added, policy, ...stored } = fileLineSchema.parse(jsonIn(value.toString('utf8')));
    const isPage = path.endsWith('.html');
    const type = contentType(path);
    return {
      ...stored,
      digest: shortDigest((isPage ? (stored.source ?? stored) : stored).sha256),
      type,
      isPage,
      isAdded: added === true,
      ...(lacksCopies && stored.plain === undefined && isToCopy(type, stored) && { lacksCopies }),
      ...(policy !== undefined && { policy: policies[policy] }),
    };
  }

  /** The names of redirects begin with a slash, and those of files do not. */
  const isFile = (name: string): boolean => !name.startsWith('/');
  // The digest of the list was compared, so lines of this program are parsed less strictly than bundles.
  const storedLine = (value: Buffer): StoredLine => JSON.parse(value.toString('utf8')) as StoredLine;
  const bundledAt = (name: string): PartedBytes | undefined => {
    const value = lines.find(name);
    return value && bundledOf(name, storedLine(value))?.[1];
  };

  function* linesOf(shard: Shard): Generator<ListLine> {
    for (const line of linesIn(load(shard))) yield { ...line, bundled: bundledOf(line.name, storedLine(line.value)) };
  }

  return {
    ...about,
    policies,
    wildcards,
    headBytes:
      headBytes + shardHeadBytes * (about.shards.length + about.pieces.length) + 2 * JSON.stringify(wildcards).length,
    load,
    placeOf: lines.placeOf,
    bundled: (path) =>
      isFile(path)
        ? (bundledAt(path) ?? (path.endsWith('.html') ? bundledAt(redirectName(path)) : undefined))
        : undefined,
    has: (path) => isFile(path) && lines.find(path) !== undefined,
    file(path) {
      const found = isFile(path) ? lines.find(path) : undefined;
      return found && fileOf(path, found);
    },
    redirect(source) {
      const found = isFile(source) ? undefined : lines.find(source);
      return found && redirectLineSchema.parse(jsonIn(found.toString('utf8')));
    },
    wildcard: wildcardRedirects(wildcards),
    *files() {
      for (const { name, value } of lines.each()) if (isFile(name)) yield [name, fileOf(name, value)];
    },
    *lines() {
      for (const shard of about.shards) yield* linesOf(shard);
    },
    linesOf,
  };
}

/** Name of the line of a page that redirects. */
export const redirectName = (path: string): string => `/${path.slice(0, -'.html'.length)}`;

type StoredLine = Partial<z.infer<typeof fileLineSchema>>;

/** The file of the bundle that a line stands for: the file itself, its source, or the page that redirects. */
function bundledOf(name: string, { size, sha256, parts, source, added }: StoredLine): ListLine['bundled'] {
  if (name.startsWith('/')) return source && [`${name.slice(1)}.html`, source];
  if (source !== undefined) return [name, source];
  return added === true || size === undefined || sha256 === undefined ? undefined : [name, { size, sha256, parts }];
}

/** Minimum size of a file with copies. Smaller ones fit into the first packet without compression. */
const leastBytes = 512;
const mostBytes = 32 * 1024 * 1024;

/** True if copies of a file are worth making, and were not made. Pure. */
export const isToCopy = (type: string, { size, br, gzip }: Pick<HostedFile, 'size' | 'br' | 'gzip'>): boolean =>
  br === undefined && gzip === undefined && size >= leastBytes && size <= mostBytes && isText(type);

/** True for the line of a file whose copies are worth making, and were not made. */
export const isToCopyLater: LacksCopies = (name, value) => {
  if (name.startsWith('/')) return false;
  const { plain, size, br, gzip } = JSON.parse(value.toString('utf8')) as StoredLine;
  return plain === undefined && size !== undefined && isToCopy(contentType(name), { size, br, gzip });
};

/** A line of a file with copies of its bytes; without any, it says that they would not be smaller. */
export function lineWithCopies({ name, value }: Line, { br, gzip }: Pick<HostedFile, 'br' | 'gzip'>): Buffer {
  const before = JSON.parse(value.toString('utf8')) as StoredLine;
  const made = br === undefined && gzip === undefined ? { plain: true } : { br, gzip };
  return lineOf(name, { ...before, ...made });
}
