import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import {
  type WildcardRedirect,
  wildcardRedirectsPath,
  wildcardRedirectsSchema,
} from '#shared/contracts/stored-objects.ts';
import { jsonIn, sha256Of, sha256OfJson, sha256OfStream } from '#shared/runtime/canonical-json.ts';
import { errorCode } from '#shared/runtime/failures.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { BundleRefused } from './bundle-refused.ts';
import { contentFile, type NewContent, type PartedBytes, type StoredBytes } from './content-folder.ts';
import { type EarlierVersion, pagesDigest } from './earlier-version.ts';
import { contentType, isSearchIndex, mayBeVersioned } from './hosted-types.ts';
import { previewFiles, previewNoteOf } from './preview-note.ts';
import { policyOf, redirectOf, rewritePage, type SiteAddresses } from './rewrite-page.ts';
import { type Line, linesIn, type Shard, storeChanges, storeShards } from './sorted-lines.ts';
import {
  headFile,
  type HostedFile,
  type HostedRedirect,
  isToCopy,
  isToCopyLater,
  lineWithCopies,
  linesFor,
  type ListLine,
  type Making,
  openVersionList,
  readVersionList,
  redirectName,
  shortDigest,
  storedIn,
  type VersionList,
  writeHead,
  writeVersionList,
} from './version-list.ts';

/*
 * A version on disk is its list, which is written last and names all files of the bundle, what the host made of them, and both compressed. The bytes are
 * in the content of the site.
 */

export type Encoding = 'br' | 'gzip';

/** Time at which the compressed copies of a new version are made: with it, or by `addCopies` while it is served. */
export type CopiesMade = 'now' | 'later';

/** Number of concurrent compressions. More would only wait for each other, because zlib has four threads. */
const atOnce = 4;
/** Bytes whose copies are made before a version is served: those of some changed pages, in 30 ms of processor time. */
const mostCopiedFirst = 512 * 1024;
/** Bytes whose copies are made in one step, in some seconds. */
const mostCopiedInStep = 48 * 1024 * 1024;
/** Processor time of the best copies, as a multiple of the usual ones. */
const bestCosts = 50;
/** Size above which files other than pages have no copy in brotli. */
const mostOfBrotli = 1024 * 1024;
/** Limit of the size of pages, which are rewritten in memory. Pages of exports are smaller: the source of one has 8 MB at most. */
const mostPageBytes = 64 * 1024 * 1024;
/** Pages above this size are rewritten one at a time, because each takes many times its size in memory. */
const largePageBytes = 1024 * 1024;
/** Limit of redirects with wildcards, whose index is in memory with the list of the version. */
const mostWildcards = 10_000;
/** Limit of policies in a list that none of its pages has. */
const mostStalePolicies = 1_000;
const mostWildcardBytes = 8 * 1024 * 1024;

/** Facts that the preparation of every version needs. */
export type Preparation = {
  folder: string;
  content: NewContent;
  making: Making;
  manifest: VersionList['manifest'];
  copies?: CopiesMade | undefined;
};

/** Makes the files and redirects that a host answers with from the files of a bundle. */
function siteMaker(
  { content, making: { base, isAirGapped, preview }, copies: when = 'now' }: Preparation,
  token: string,
  digestOf: SiteAddresses['digestOf'],
) {
  const addresses: SiteAddresses = { base, token, digestOf, isAirGapped };
  const note = preview && previewNoteOf(preview, base);
  const replaced = new Map(preview === undefined ? [] : previewFiles);
  const redirects = new Map<string, HostedRedirect>();
  const files = new Map<string, HostedFile>();
  let bytesToCopy = when === 'now' ? Number.POSITIVE_INFINITY : mostCopiedFirst;

  const isCopiedNow = (path: string, size: number): boolean =>
    size <= bytesToCopy && (when === 'now' || !takesBestCopies(path));

  /** Adds a file that is answered with `body`. `source`: the file of the bundle that it is made of, or replaces. */
  async function add(
    path: string,
    body: Buffer,
    stored: PartedBytes,
    more: { source?: StoredBytes | undefined; isAdded?: boolean; policy?: string | undefined } = {},
  ): Promise<void> {
    const copies: Partial<Record<Encoding, StoredBytes>> = {};
    const isNow = isCopiedNow(path, body.length);
    if (isNow) {
      bytesToCopy -= body.length;
      for (const [encoding, bytes] of await compressed(body, path)) copies[encoding] = await content.put(bytes);
    }
    const { source, policy, isAdded = false } = more;
    const isPage = path.endsWith('.html');
    const digest = shortDigest((isPage ? (source ?? stored) : stored).sha256);
    const type = contentType(path);
    const isPlain = isNow && isToCopy(type, { ...stored, ...copies });
    files.set(path, {
      ...{ ...stored, ...copies, digest, type, isPage, source, isAdded, policy },
      ...(isPlain && { plain: true as const }),
    });
  }

  async function prepareFile(path: string, original: PartedBytes): Promise<void> {
    const isPage = path.endsWith('.html');
    const type = contentType(path);
    if (isPage && original.size > mostPageBytes)
      throw new BundleRefused(`${path} has ${original.size} bytes, and a page may have at most ${mostPageBytes}`);
    const source = { size: original.size, sha256: original.sha256 };
    const instead = replaced.get(path);
    if (instead !== undefined) return await add(path, instead, await content.put(instead), { source });
    if (!isPage && !(isToCopy(type, original) && isCopiedNow(path, original.size))) {
      const digest = shortDigest(original.sha256);
      files.set(path, { ...original, digest, type, isPage, isAdded: false });
      return;
    }
    const body = await content.read(original);
    if (!isPage) return await add(path, body, original);
    const html = body.toString('utf8');
    const redirection = redirectOf(html, path, addresses);
    if (redirection === undefined) {
      const page = Buffer.from(rewritePage(html, path, addresses, note));
      return await add(path, page, await content.put(page), { source, policy: policyOf(html, isAirGapped) });
    }
    redirects.set(redirectName(path), { ...redirection, source });
  }

  const isLarge = ([path, { size }]: [string, PartedBytes]): boolean => path.endsWith('.html') && size > largePageBytes;

  return {
    files,
    redirects,
    /** Files that the host answers with instead of those of the bundle. */
    replaced,
    async prepareFiles(changed: readonly [string, PartedBytes][]): Promise<void> {
      await inParallel(
        changed.filter((entry) => !isLarge(entry)),
        atOnce,
        (entry) => prepareFile(...entry),
      );
      await inParallel(changed.filter(isLarge), 1, (entry) => prepareFile(...entry));
    },
    /** Adds a file that the bundle does not have. */
    addOwn: async (path: string, body: Buffer): Promise<void> =>
      await add(path, body, await content.put(body), { isAdded: true }),
  };
}

/**
 * Prepares a version for serving from the files of its bundle. `found`: all files by path, as they were checked. Writes the head of the list last; a folder
 * without it is not a version. `pieces`: the shards of the pieces of the bundle. Lines of the `earlier` version are kept for unchanged files; with
 * `isSure`, their stored files are not checked for existence. With `copies: 'later'`, only the copies of a few small files are made, and `addCopies` makes
 * the others. Throws `BundleRefused` for pages and lists that are too large.
 */
export async function prepareSite(
  preparation: Preparation,
  found: ReadonlyMap<string, PartedBytes>,
  {
    earlier,
    isSure = false,
    pieces = [],
  }: { earlier?: EarlierVersion | undefined; isSure?: boolean; pieces?: readonly Shard[] } = {},
): Promise<void> {
  const { folder, content, making, manifest } = preparation;
  await rm(join(folder, headFile), { force: true });
  const token = tokenOf(found);
  const maker = siteMaker(preparation, token, (path) => shortOf(found.get(path)));
  const kept: Buffer[] = [];

  // Pages are made of their source, of the names of other pages, and of the bytes of files that display them.
  const hasSamePages =
    earlier !== undefined &&
    earlier.list.token === token &&
    // Unused policies stay in the list until all pages are prepared again.
    earlier.list.policies.length <= mostStalePolicies + 2 * earlier.bundled.size &&
    isDeepStrictEqual(makingOf(earlier.list), makingOf(making)) &&
    earlier.pages === pagesDigest(found.keys());
  const replacedBefore = new Map(earlier?.list.preview === undefined ? [] : previewFiles);
  const isReplaced = (path: string): boolean => maker.replaced.has(path) || replacedBefore.has(path);
  /** The line of the earlier version, if it was made from the same file. */
  const lineBefore = (path: string, { sha256 }: PartedBytes): ListLine | undefined => {
    const before = earlier?.bundled.get(path);
    if (before === undefined || before.bytes.sha256 !== sha256 || isReplaced(path)) return undefined;
    return path.endsWith('.html') && !hasSamePages ? undefined : before.line;
  };

  const changed: [string, PartedBytes][] = [];
  const same: { entry: [string, PartedBytes]; line: ListLine }[] = [];
  for (const entry of found) {
    const line = lineBefore(...entry);
    if (line === undefined) changed.push(entry);
    else if (isSure) kept.push(line.bytes);
    else same.push({ entry, line });
  }
  await inParallel(same, atOnce, async ({ entry, line }) => {
    if (await content.has(storedIn(line.value))) kept.push(line.bytes);
    else changed.push(entry);
  });
  await maker.prepareFiles(changed);
  for (const [path, body] of maker.replaced) if (!found.has(path)) await maker.addOwn(path, body);
  const wildcards = await wildcardsIn(content, found.get(wildcardRedirectsPath));
  const policies = hasSamePages ? earlier.list.policies : [];
  const about = { ...makingOf(making), token, manifest, wildcards, policies, pieces };
  await writeVersionList(folder, content, about, maker.files, maker.redirects, kept);
  await content.commit();
}

/** A version and the files in which the bundle of the next one differs from its own. */
export type ChangedFiles = {
  list: VersionList;
  added: ReadonlyMap<string, PartedBytes>;
  removed: ReadonlySet<string>;
};

/**
 * True if the next version can be the earlier one with other files, because all of its other pages are the same: they are made of their source, of the
 * names of other pages, and of the bytes of files that display them.
 */
export function hasOnlyChanges(making: Making, { list, added, removed }: ChangedFiles): boolean {
  const replaced = new Map(list.preview === undefined ? [] : previewFiles);
  const isAlike = (path: string): boolean =>
    !mayBeVersioned(path) &&
    !replaced.has(path) &&
    !(path.endsWith('.html') && (removed.has(path) || list.bundled(path) === undefined));
  return (
    list.isShared &&
    // Unused policies stay in the list until all pages are prepared again.
    list.policies.length <= mostStalePolicies + 2 * list.shards.reduce((sum, { lines }) => sum + lines, 0) &&
    isDeepStrictEqual(makingOf(list), makingOf(making)) &&
    [...added.keys(), ...removed].every(isAlike)
  );
}

/** Prepares a version that is an earlier one with other files (`hasOnlyChanges`). It reads and writes only the shards of the list with these files. */
export async function prepareChanges(
  preparation: Preparation,
  { list, added, removed }: ChangedFiles,
  pieces: readonly Shard[],
): Promise<void> {
  const { folder, content, making, manifest } = preparation;
  await rm(join(folder, headFile), { force: true });
  const { token } = list;
  const maker = siteMaker(preparation, token, (path) =>
    shortOf(added.get(path) ?? (removed.has(path) ? undefined : list.bundled(path))),
  );
  await maker.prepareFiles([...added]);
  const { policies, lines } = linesFor(list.policies, maker.files, maker.redirects);
  const changes = new Map<string, Buffer | undefined>();
  for (const path of [...added.keys(), ...removed]) {
    changes.set(path, undefined);
    if (path.endsWith('.html')) changes.set(redirectName(path), undefined);
  }
  for (const [name, line] of lines) changes.set(name, line);
  const shards = await storeChanges(content, list, changes, isToCopyLater);
  const hasWildcards = added.has(wildcardRedirectsPath) || removed.has(wildcardRedirectsPath);
  const wildcards = hasWildcards ? await wildcardsIn(content, added.get(wildcardRedirectsPath)) : list.wildcards;
  await writeHead(folder, { ...makingOf(making), token, manifest, wildcards, policies, pieces }, shards);
  await content.commit();
}

/**
 * Prepares a version again that is the `earlier` one with the copies that it lacks, of about as many bytes as one step makes: `addCopies` is repeated until
 * none are lacking. Files that are lost or damaged get none; that shows when they are read. Throws `BundleRefused` if the earlier version cannot be read.
 */
export async function addCopies(
  folder: string,
  content: NewContent,
  earlierFolder: string,
  contentFolder: string,
): Promise<void> {
  const earlier = await openVersionList(earlierFolder, contentFolder);
  if (earlier === undefined) throw new BundleRefused('the list of the version that lacks copies cannot be read');
  const { base, isAirGapped, preview, token, manifest, wildcards, policies, pieces } = earlier;
  const shards: Shard[] = [];
  let bytesToCopy = mostCopiedInStep;
  const copied = async (line: Line): Promise<Buffer> => {
    const file = bytesToCopy <= 0 || line.name.startsWith('/') ? undefined : earlier.file(line.name);
    if (file?.lacksCopies !== true) return line.bytes;
    bytesToCopy -= takesBestCopies(line.name) ? bestCosts * file.size : file.size;
    const body = await content.read(file).catch((error: unknown) => {
      if (errorCode(error) !== 'ENOENT') throw error;
      return undefined;
    });
    const copies: Partial<Record<Encoding, StoredBytes>> = {};
    if (body !== undefined && sha256Of(body) === file.sha256)
      for (const [encoding, bytes] of await compressed(body, line.name)) copies[encoding] = await content.put(bytes);
    return lineWithCopies(line, copies);
  };
  for (const shard of earlier.shards) {
    if (earlier.isShared && (shard.lacksCopies !== true || bytesToCopy <= 0)) {
      shards.push(shard);
      continue;
    }
    const lines: Buffer[] = [];
    for (const line of linesIn(earlier.load(shard))) lines.push(await copied(line));
    shards.push(...(await storeShards(content, lines, isToCopyLater)));
  }
  await rm(join(folder, headFile), { force: true });
  const about = { ...makingOf({ base, isAirGapped, preview }), token, manifest, wildcards, policies, pieces };
  await writeHead(folder, about, shards);
  await content.commit();
}

const makingOf = ({ base, isAirGapped, preview }: Making): Making => ({
  base,
  isAirGapped,
  ...(preview && { preview }),
});

const shortOf = (bytes: PartedBytes | undefined): string | undefined => bytes && shortDigest(bytes.sha256);

/** Names the bytes of all files that display pages, so that a version with the same ones has the same addresses. */
function tokenOf(found: ReadonlyMap<string, { sha256: string }>): string {
  const shown = [...found].filter(([path]) => mayBeVersioned(path)).map(([path, { sha256 }]) => [path, sha256]);
  return shortDigest(sha256OfJson(shown.sort(([one = ''], [other = '']) => (one < other ? -1 : 1))));
}

/** The redirects with wildcards, if the bundle lists them. */
async function wildcardsIn(content: NewContent, listed: PartedBytes | undefined): Promise<WildcardRedirect[]> {
  if (listed === undefined || listed.size === 0) return [];
  const { size } = listed;
  if (size > mostWildcardBytes)
    throw new BundleRefused(`${wildcardRedirectsPath} has ${size} bytes, and may have at most ${mostWildcardBytes}`);
  const text = (await content.read(listed)).toString('utf8');
  const redirects = wildcardRedirectsSchema.safeParse(jsonIn(text)).data?.redirects ?? [];
  if (redirects.length > mostWildcards)
    throw new BundleRefused(
      `the bundle has ${redirects.length} redirects with wildcards, and may have at most ${mostWildcards}`,
    );
  return redirects;
}

/** The bytes of an answer with a file, in an encoding that the file has. */
export const bytesOf = (file: HostedFile, encoding?: Encoding): PartedBytes =>
  (encoding === undefined ? undefined : file[encoding]) ?? file;

/**
 * Reads a version that was prepared earlier and checks every byte of it and of its bundle; undefined if it is incomplete or damaged. Throws as
 * `readVersionList`.
 */
export async function readPreparedSite(folder: string, content: string): Promise<VersionList | undefined> {
  const list = await readVersionList(folder, content);
  if (list === undefined) return undefined;
  const stored = new Set<string>();
  for (const { value } of list.lines()) for (const { sha256 } of storedIn(value)) stored.add(sha256);
  const whole = await inParallel([...stored], atOnce, async (sha256) => {
    const found = await sha256OfStream(createReadStream(contentFile(content, sha256))).catch(() => undefined);
    return found === sha256;
  });
  return whole.every(Boolean) ? list : undefined;
}

const brotli = promisify(brotliCompress);
const gzipped = promisify(gzip);

/**
 * The copies that are smaller by a twentieth or more. zstd copies are not made, because browsers that accept zstd accept brotli, whose copies are
 * smaller. For the 1,100 pages of a project (Node 24), zstd 9 takes as long as brotli 5 and is 4.7 % larger; zstd 22 takes ten times as long and is
 * 0.3 % larger. For scripts and styles, zstd 22 is 5.9 % larger than brotli 11. The highest quality takes a hundred times as long, and is used for
 * files that every reader loads.
 */
async function compressed(body: Buffer, path: string): Promise<[Encoding, Buffer][]> {
  if (!isToCopy(contentType(path), { size: body.length })) return [];
  const isPage = path.endsWith('.html');
  // Files with the text of all pages change with each page, so compressing them with the highest quality would take longer than the rest of a
  // deployment.
  if (!isPage && body.length > mostOfBrotli) return smaller(body, [['gzip', await gzipped(body, { level: 4 })]]);
  const isShared = takesBestCopies(path) && body.length <= 512 * 1024;
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: isShared ? 11 : 5,
    [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
  };
  const copies: [Encoding, Buffer][] = [
    ['br', await brotli(body, { params })],
    ['gzip', await gzipped(body, { level: isShared ? 9 : 6 })],
  ];
  return smaller(body, copies);
}

/** True for scripts and styles, which every reader loads. */
const takesBestCopies = (path: string): boolean => /\.(js|css)$/.test(path) && !isSearchIndex(path);

/** Bytes as an answer with them is sent while they have no copies: quickly, and cached by the caller. */
export async function compressedNow(body: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'gzip') return await gzipped(body, { level: 4 });
  return await brotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });
}

const smaller = (body: Buffer, copies: [Encoding, Buffer][]): [Encoding, Buffer][] =>
  copies.filter(([, bytes]) => bytes.length < body.length * 0.95);
