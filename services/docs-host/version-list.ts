import { open, readFile, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { z } from 'zod';
import { sha256Hex } from '#shared/contracts/identifiers.ts';
import { deploymentTypes, wildcardRedirectsSchema } from '#shared/contracts/stored-objects.ts';
import { jsonIn, sha256Of } from '#shared/runtime/canonical-json.ts';
import { errorCode } from '#shared/runtime/failures.ts';
import { type Redirection, wildcardRedirects } from '#shared/docs/render/redirects.ts';
import { BundleRefused } from './bundle-refused.ts';
import type { PartedBytes, StoredBytes } from './content-folder.ts';
import { contentType, isText } from './hosted-types.ts';

/*
 * The list of a version: `site.json` has the facts of the whole version, and `site.list` one line for each file and each redirect, sorted by name. In
 * memory a list is the bytes of these lines, and a line is parsed when it is looked up. So a list takes as much memory as its file, and a host can
 * hold the lists of thousands of sites. Parsing a list of a hundred thousand lines at once would block readers of all sites.
 */

/** Format of the prepared files. A version with another number is prepared again. */
const formatVersion = 4;

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

const headSchema = z.object({
  formatVersion: z.literal(formatVersion),
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
  lines: storedBytes,
});

type VersionHead = z.infer<typeof headSchema>;

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
  /** True if its copies are still to be made, so that answers compress its bytes. */
  lacksCopies?: true | undefined;
};

/** A redirect, and the page of the bundle that makes it. */
export type HostedRedirect = Redirection & { source?: StoredBytes | undefined };

/** How the pages of a version were made. A version that was made in another way is prepared again. */
export type Making = Pick<VersionHead, 'base' | 'isAirGapped' | 'preview'>;

/** The files and redirects of one version. */
export type VersionList = Omit<VersionHead, 'formatVersion' | 'policies' | 'wildcards' | 'lines'> & {
  /** Memory that the list takes. */
  bytes: number;
  has(path: string): boolean;
  file(path: string): HostedFile | undefined;
  /** The redirect of a page address: `/old`. */
  redirect(source: string): Redirection | undefined;
  /** The redirect of a path without a page. */
  wildcard(path: string): Redirection | undefined;
  files(): Iterable<[path: string, file: HostedFile]>;
  /** All lines as they are stored, in their order. */
  lines(): Iterable<ListLine>;
  /** The redirects with wildcards as they are stored. */
  wildcards: VersionHead['wildcards'];
  policies: readonly string[];
};

/**
 * A line of a list: `bytes` is the line with its end, `value` its JSON, and `bundled` the file of the bundle that it stands for, with its path.
 */
export type ListLine = {
  name: string;
  bytes: Buffer;
  value: Buffer;
  bundled: [path: string, bytes: PartedBytes] | undefined;
};

export const headFile = 'site.json';
export const linesFile = 'site.list';

const digestLength = 16;
export const shortDigest = (sha256: string): string => sha256.slice(0, digestLength);

/**
 * Writes the list of a version; the head, which names the lines, is written last. `kept`: lines of an earlier list with the policies that they refer to.
 * Throws `BundleRefused` for names that no list can have.
 */
export async function writeVersionList(
  folder: string,
  about: Making & Pick<VersionHead, 'token' | 'manifest' | 'wildcards' | 'lacksCopies'>,
  files: ReadonlyMap<string, HostedFile>,
  redirects: ReadonlyMap<string, HostedRedirect>,
  kept: { lines: readonly Buffer[]; policies: readonly string[] } = { lines: [], policies: [] },
): Promise<void> {
  const policies = [...new Set([...kept.policies, ...[...files.values()].flatMap(({ policy }) => policy ?? [])])];
  const numbers = new Map(policies.map((policy, at) => [policy, at]));
  const lines = [...kept.lines];
  for (const [path, { size, sha256, parts, source, isAdded, policy, br, gzip }] of files)
    lines.push(
      lineOf(path, {
        size,
        sha256,
        ...(parts && { parts: [...parts] }),
        ...(source && { source }),
        ...(isAdded && { added: true }),
        ...(policy !== undefined && { policy: numbers.get(policy) }),
        br,
        gzip,
      } satisfies z.input<typeof fileLineSchema>),
    );
  for (const [name, { to, permanent, source }] of redirects) lines.push(lineOf(name, { to, permanent, source }));
  const whole = Buffer.concat(lines.sort((one, other) => one.compare(other)));
  const head: VersionHead = {
    formatVersion,
    ...about,
    policies,
    lines: { size: whole.length, sha256: sha256Of(whole) },
  };
  await writeFile(join(folder, linesFile), whole);
  await writeFile(join(folder, headFile), JSON.stringify(head));
}

/** The stored files that a line, or a whole list, names. A name in the list may look like a digest; then one file too many is returned. */
export function storedIn(lines: Buffer): StoredBytes[] {
  const text = lines.toString('latin1');
  return [...text.matchAll(/"size":(\d+),"sha256":"([0-9a-f]{64})"(,"parts":)?/g)].flatMap(
    ([, size = '', sha256 = '', hasParts]) => (hasParts === undefined ? [{ size: Number(size), sha256 }] : []),
  );
}

const separator = '\t';

function lineOf(name: string, value: object): Buffer {
  if (/[\t\n]/.test(name)) throw new BundleRefused(`${JSON.stringify(name)} has a tab or a line break`);
  return Buffer.from(`${name}${separator}${JSON.stringify(value)}\n`);
}

/** Size limit of a list. Three lists exist while a version is replaced. */
const mostListBytes = Math.floor(getHeapStatistics().heap_size_limit / 10);

/**
 * The list of a version; undefined if there is none, it is damaged, or another program wrote it. Throws `BundleRefused` for a list that is too long for
 * the memory of this process.
 */
export async function readVersionList(folder: string): Promise<VersionList | undefined> {
  const head = await readHead(folder);
  if (head === undefined) return undefined;
  const { size } = head.lines;
  if (size > mostListBytes)
    throw new BundleRefused(
      `the bundle has so many files that their list has ${size} bytes, and this process has memory for ${mostListBytes}`,
    );
  const lines = await readLines(join(folder, linesFile), head.lines);
  return lines === undefined ? undefined : listOf(head, lines);
}

async function readHead(folder: string): Promise<VersionHead | undefined> {
  try {
    return headSchema.safeParse(jsonIn(await readFile(join(folder, headFile), 'utf8'))).data;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Number of bytes that are read and digested in one step, in less than a millisecond. */
const stepBytes = 256 * 1024;

async function readLines(file: string, expected: { size: number; sha256: string }): Promise<Buffer | undefined> {
  const lines = Buffer.allocUnsafeSlow(expected.size);
  const hash = createHash('sha256');
  const handle = await open(file).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (handle === undefined) return undefined;
  try {
    for (let at = 0; at < expected.size; ) {
      const { bytesRead } = await handle.read(lines, at, Math.min(stepBytes, expected.size - at), at);
      if (bytesRead === 0) return undefined;
      hash.update(lines.subarray(at, at + bytesRead));
      at += bytesRead;
    }
  } finally {
    await handle.close();
  }
  return hash.digest('hex') === expected.sha256 ? lines : undefined;
}

/** Memory of a list beside its lines: its parsed head, and the settings script that is made from it. */
const headBytes = 8 * 1024;

function listOf(
  { policies, wildcards, lines: _, formatVersion: __, ...about }: VersionHead,
  lines: Buffer,
): VersionList {
  const starts = startsOf(lines);

  /** The range of a name's JSON among the lines, found by binary search; undefined if there is none. */
  function find(name: string): { from: number; to: number } | undefined {
    const wanted = Buffer.from(name + separator);
    let low = 0;
    let high = starts.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const start = starts[middle] ?? 0;
      const order = wanted.compare(lines, start, Math.min(start + wanted.length, lines.length));
      if (order === 0) return { from: start + wanted.length, to: (starts[middle + 1] ?? lines.length) - 1 };
      if (order < 0) high = middle - 1;
      else low = middle + 1;
    }
    return undefined;
  }

  const { lacksCopies } = about;

  const parsed = <S extends z.ZodType>(schema: S, { from, to }: { from: number; to: number }): z.output<S> =>
    schema.parse(JSON.parse(lines.toString('utf8', from, to)));

  function fileAt(path: string, at: { from: number; to: number }): HostedFile {
    const { added, policy, plain, ...stored } = parsed(fileLineSchema, at);
    const isPage = path.endsWith('.html');
    const type = contentType(path);
    return {
      ...stored,
      digest: shortDigest((isPage ? (stored.source ?? stored) : stored).sha256),
      type,
      isPage,
      isAdded: added === true,
      ...(lacksCopies && plain === undefined && isToCopy(type, stored) && { lacksCopies }),
      ...(policy !== undefined && { policy: policies[policy] }),
    };
  }

  /** The names of redirects begin with a slash, and those of files do not. */
  const isFile = (name: string): boolean => !name.startsWith('/');
  const wildcard = wildcardRedirects(wildcards);

  function* eachLine(): Generator<{ name: string; start: number; at: { from: number; to: number } }> {
    for (const [index, start] of starts.entries()) {
      const end = lines.indexOf(separator, start);
      const to = (starts[index + 1] ?? lines.length) - 1;
      yield { name: lines.toString('utf8', start, end), start, at: { from: end + 1, to } };
    }
  }

  return {
    ...about,
    policies,
    wildcards,
    bytes: lines.length + starts.byteLength + headBytes + 2 * JSON.stringify(wildcards).length,
    has: (path) => isFile(path) && find(path) !== undefined,
    file(path) {
      const found = isFile(path) ? find(path) : undefined;
      return found && fileAt(path, found);
    },
    redirect(source) {
      const found = isFile(source) ? undefined : find(source);
      return found && parsed(redirectLineSchema, found);
    },
    wildcard,
    *files() {
      for (const { name, at } of eachLine()) if (isFile(name)) yield [name, fileAt(name, at)];
    },
    *lines() {
      for (const { name, start, at } of eachLine())
        yield {
          name,
          bytes: lines.subarray(start, at.to + 1),
          value: lines.subarray(at.from, at.to),
          // The digest of the list was compared, so lines of this program are parsed less strictly than bundles.
          bundled: bundledOf(name, JSON.parse(lines.toString('utf8', at.from, at.to)) as StoredLine),
        };
    },
  };
}

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

/** A line of a file with copies of its bytes; without any, it says that they would not be smaller. */
export function lineWithCopies({ name, value }: ListLine, { br, gzip }: Pick<HostedFile, 'br' | 'gzip'>): Buffer {
  const before = JSON.parse(value.toString('utf8')) as StoredLine;
  const made = br === undefined && gzip === undefined ? { plain: true } : { br, gzip };
  return lineOf(name, { ...before, ...made });
}

/** The offset of each line. */
function startsOf(lines: Buffer): Uint32Array {
  const lineEnd = 10;
  let starts = new Uint32Array(1_024);
  let count = 0;
  for (let at = 0; at < lines.length; at = lines.indexOf(lineEnd, at) + 1) {
    if (count === starts.length) {
      const longer = new Uint32Array(count * 2);
      longer.set(starts);
      starts = longer;
    }
    starts[count] = at;
    count += 1;
  }
  return starts.slice(0, count);
}
