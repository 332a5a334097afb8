import { createReadStream } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import {
  type WildcardRedirect,
  wildcardRedirectsPath,
  wildcardRedirectsSchema,
} from '#shared/contracts/stored-objects.ts';
import { jsonIn, sha256Of, sha256OfJson, sha256OfStream } from '#shared/runtime/canonical-json.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import type { Redirection } from '#shared/docs/render/redirects.ts';
import { BundleRefused } from './bundle-refused.ts';
import { type EarlierVersion, linkFile, pagesDigest } from './earlier-version.ts';
import { contentType, isText, mayBeVersioned } from './hosted-types.ts';
import { previewFiles, previewNoteOf } from './preview-note.ts';
import { policyOf, redirectOf, rewritePage, type SiteAddresses } from './rewrite-page.ts';
import {
  headFile,
  type HostedFile,
  type Making,
  readVersionList,
  shortDigest,
  type VersionList,
  writeVersionList,
} from './version-list.ts';

/*
 * A version on disk: `files/` is the bundle as it was unpacked, `pages/` has its pages for a server and the files that the host adds, `br/` and
 * `gzip/` have both compressed, and its list, which is written last, names all of it.
 */

export type Encoding = 'br' | 'gzip';

/** Number of concurrent compressions. More would only wait for each other, because zlib has four threads. */
const atOnce = 4;
/** Minimum size of a compressed answer. Smaller ones fit into the first packet without compression. */
const leastBytes = 512;
const mostBytes = 32 * 1024 * 1024;
/** Limit of the size of pages, which are rewritten in memory. Pages of exports are smaller: the source of one has 8 MB at most. */
const mostPageBytes = 64 * 1024 * 1024;
/** Pages above this size are rewritten one at a time, because each takes many times its size in memory. */
const largePageBytes = 1024 * 1024;
/** Limit of redirects with wildcards. The host compares a path without a page with all of them. */
const mostWildcards = 10_000;
const mostWildcardBytes = 8 * 1024 * 1024;

/**
 * Prepares a version for serving from the files of its bundle. `found`: all files by path, as they were checked. Writes the list last; a folder
 * without it is not a version. Throws `BundleRefused` for pages and lists that are too large.
 */
export async function prepareSite(
  folder: string,
  making: Making,
  manifest: VersionList['manifest'],
  found: ReadonlyMap<string, { size: number; sha256: string }>,
  earlier?: EarlierVersion,
): Promise<void> {
  for (const made of ['pages', 'br', 'gzip', headFile]) await rm(join(folder, made), { recursive: true, force: true });
  const { base, isAirGapped, preview } = making;
  const token = tokenOf(found);
  const digestOf = (path: string) => {
    const sha256 = found.get(path)?.sha256;
    return sha256 === undefined ? undefined : shortDigest(sha256);
  };
  const addresses: SiteAddresses = { base, token, digestOf, isAirGapped };
  const note = preview && previewNoteOf(preview, base);
  const redirects = new Map<string, Redirection>();
  const files = new Map<string, HostedFile>();
  const keep = async (path: string, body: Buffer, more: Pick<HostedFile, 'digest' | 'isMade' | 'policy'>) => {
    const isPage = path.endsWith('.html');
    if (more.isMade) await write(join(folder, 'pages', path), body);
    const copies = await compressed(body, path, isPage);
    for (const [encoding, bytes] of copies) await write(join(folder, encoding, path), bytes);
    const variants = Object.fromEntries(copies.map(([encoding, bytes]) => [encoding, described(bytes)]));
    files.set(path, { ...described(body), type: contentType(path), isPage, ...more, ...variants });
  };
  // Pages are made of their source, of the names of other pages, and of the bytes of files that display them.
  const hasSamePages =
    earlier !== undefined &&
    earlier.list.token === token &&
    isDeepStrictEqual(makingOf(earlier.list), makingOf(making)) &&
    earlier.pages === pagesDigest(found.keys());
  /** Takes the prepared file of the earlier version, if it was made of the same. */
  const takeAgain = async (path: string, isPage: boolean): Promise<boolean> => {
    if (earlier === undefined || earlier.sha256Of(path) !== found.get(path)?.sha256 || (isPage && !hasSamePages))
      return false;
    const file = earlier.list.file(path);
    const redirection = isPage && file === undefined ? earlier.list.redirect(sourceOf(path)) : undefined;
    if (redirection !== undefined) redirects.set(sourceOf(path), redirection);
    if (file === undefined || file.isMade !== isPage) return redirection !== undefined;
    const copies = [
      ...(isPage ? [undefined] : []),
      ...(file.br ? ['br' as const] : []),
      ...(file.gzip ? ['gzip' as const] : []),
    ];
    for (const encoding of copies) {
      const to = fileOf(folder, path, file, encoding);
      await mkdir(dirname(to), { recursive: true });
      if (!(await linkFile(fileOf(earlier.folder, path, file, encoding), to))) return false;
    }
    files.set(path, file);
    return true;
  };
  const prepareFile = async (path: string): Promise<void> => {
    const digest = digestOf(path) ?? '';
    const isPage = path.endsWith('.html');
    const type = contentType(path);
    const original = found.get(path) ?? { size: 0, sha256: '' };
    const isSmall = original.size <= mostBytes;
    if (isPage && original.size > mostPageBytes)
      throw new BundleRefused(`${path} has ${original.size} bytes, and a page may have at most ${mostPageBytes}`);
    if (!isPage && !(isSmall && isText(type))) {
      files.set(path, { ...original, digest, type, isPage, isMade: false });
      return;
    }
    if (await takeAgain(path, isPage)) return;
    const body = await readFile(join(folder, 'files', path));
    if (!isPage) return await keep(path, body, { digest, isMade: false });
    const html = body.toString('utf8');
    const redirection = redirectOf(html, path, addresses);
    if (redirection === undefined) {
      const page = Buffer.from(rewritePage(html, path, addresses, note));
      return await keep(path, page, { digest, isMade: true, policy: policyOf(html, isAirGapped) });
    }
    redirects.set(sourceOf(path), redirection);
  };
  const isLarge = (path: string): boolean => path.endsWith('.html') && (found.get(path)?.size ?? 0) > largePageBytes;
  const [large = [], small = []] = [true, false].map((wanted) =>
    [...found.keys()].filter((path) => isLarge(path) === wanted),
  );
  await inParallel(small, atOnce, prepareFile);
  await inParallel(large, 1, prepareFile);
  for (const [path, body] of preview === undefined ? [] : previewFiles)
    await keep(path, body, { digest: shortDigest(sha256Of(body)), isMade: true });
  const about = { ...making, token, manifest, wildcards: await wildcardsIn(folder, found) };
  await writeVersionList(folder, about, files, redirects);
}

const sourceOf = (path: string): string => `/${path.slice(0, -'.html'.length)}`;

const makingOf = ({ base, isAirGapped, preview }: Making): Making => ({
  base,
  isAirGapped,
  ...(preview && { preview }),
});

/** Names the bytes of all files that display pages, so that a version with the same ones has the same addresses. */
function tokenOf(found: ReadonlyMap<string, { sha256: string }>): string {
  const shown = [...found].filter(([path]) => mayBeVersioned(path)).map(([path, { sha256 }]) => [path, sha256]);
  return shortDigest(sha256OfJson(shown.sort(([one = ''], [other = '']) => (one < other ? -1 : 1))));
}

/** The redirects with wildcards, if the bundle lists them. */
async function wildcardsIn(folder: string, found: ReadonlyMap<string, { size: number }>): Promise<WildcardRedirect[]> {
  const { size } = found.get(wildcardRedirectsPath) ?? { size: 0 };
  if (size === 0) return [];
  if (size > mostWildcardBytes)
    throw new BundleRefused(`${wildcardRedirectsPath} has ${size} bytes, and may have at most ${mostWildcardBytes}`);
  const text = await readFile(join(folder, 'files', wildcardRedirectsPath), 'utf8');
  const redirects = wildcardRedirectsSchema.safeParse(jsonIn(text)).data?.redirects ?? [];
  if (redirects.length > mostWildcards)
    throw new BundleRefused(
      `the bundle has ${redirects.length} redirects with wildcards, and may have at most ${mostWildcards}`,
    );
  return redirects;
}

/** Path of a file's bytes. */
export const fileOf = (folder: string, path: string, { isMade }: HostedFile, encoding?: Encoding): string =>
  join(folder, encoding ?? (isMade ? 'pages' : 'files'), path);

/** Reads a version that was prepared earlier and checks every byte of it; undefined if it is incomplete or damaged. Throws as `readVersionList`. */
export async function readPreparedSite(folder: string): Promise<VersionList | undefined> {
  const list = await readVersionList(folder);
  if (list === undefined) return undefined;
  const checks = [...list.files()].flatMap(([path, file]): [string, string][] => [
    [fileOf(folder, path, file), file.sha256],
    ...(['br', 'gzip'] as const).flatMap((encoding): [string, string][] => {
      const copy = file[encoding];
      return copy === undefined ? [] : [[fileOf(folder, path, file, encoding), copy.sha256]];
    }),
  ]);
  const whole = await inParallel(checks, atOnce, async ([file, sha256]) => {
    const found = await sha256OfStream(createReadStream(file)).catch(() => undefined);
    return found === sha256;
  });
  return whole.every(Boolean) ? list : undefined;
}

const described = (bytes: Uint8Array) => ({ size: bytes.length, sha256: sha256Of(bytes) });

/** Writes a new file. One of the same name, which may be linked to an earlier version, is replaced and not changed. */
async function write(file: string, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await rm(file, { force: true });
  await writeFile(file, bytes, { flag: 'wx' });
}

const brotli = promisify(brotliCompress);
const gzipped = promisify(gzip);

/**
 * The copies that are smaller by a twentieth or more. zstd copies are not made, because browsers that accept zstd accept brotli, whose copies are
 * smaller. For the 1,100 pages of a project (Node 24), zstd 9 takes as long as brotli 5 and is 4.7 % larger; zstd 22 takes ten times as long and is
 * 0.3 % larger. For scripts and styles, zstd 22 is 5.9 % larger than brotli 11. The highest quality takes a hundred times as long, and is used for
 * files that every reader loads.
 */
async function compressed(body: Buffer, path: string, isPage: boolean): Promise<[Encoding, Buffer][]> {
  if (body.length < leastBytes) return [];
  const isShared = !isPage && /\.(js|css)$/.test(path) && body.length <= 512 * 1024;
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: isShared ? 11 : 5,
    [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
  };
  const copies: [Encoding, Buffer][] = [
    ['br', await brotli(body, { params })],
    ['gzip', await gzipped(body, { level: isShared ? 9 : 6 })],
  ];
  return copies.filter(([, bytes]) => bytes.length < body.length * 0.95);
}
