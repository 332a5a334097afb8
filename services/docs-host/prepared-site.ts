import { createReadStream } from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { getHeapStatistics } from 'node:v8';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { z } from 'zod';
import { sha256Hex } from '#shared/contracts/identifiers.ts';
import {
  deploymentTypes,
  type WildcardRedirect,
  wildcardRedirectsPath,
  wildcardRedirectsSchema,
} from '#shared/contracts/stored-objects.ts';
import { jsonIn, sha256Of, sha256OfStream } from '#shared/runtime/canonical-json.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { BundleRefused } from './bundle-refused.ts';
import { contentType, isText } from './hosted-types.ts';
import { policyOf, redirectOf, rewritePage, type SiteAddresses } from './rewrite-page.ts';

/*
 * A version on disk: `files/` is the bundle as it was unpacked, `pages/` has its pages for a server, `br/` and `gzip/` have both compressed, and
 * `site.json`, which is written last, lists all of it.
 */

/** Format of the prepared files. A version with another number is prepared again, because its pages have other addresses. */
const formatVersion = 2;

const storedBytes = z.object({ size: z.int().min(0), sha256: sha256Hex });

const hostedFileSchema = storedBytes.extend({
  /** Digest of the file in the bundle, used in addresses. */
  digest: z.string(),
  type: z.string(),
  isPage: z.boolean(),
  policy: z.string().optional(),
  br: storedBytes.optional(),
  gzip: storedBytes.optional(),
});

const preparedSiteSchema = z.object({
  formatVersion: z.literal(formatVersion),
  base: z.string(),
  isAirGapped: z.boolean().default(false),
  token: z.string(),
  manifest: z.object({
    sha256: sha256Hex,
    domain: z.string(),
    label: z.string().optional(),
    contentVersion: z.string().optional(),
    deployment: z.enum(deploymentTypes),
  }),
  // `z.record` leaves out the name `__proto__`.
  files: z.preprocess(
    (files) => (typeof files === 'object' && files !== null ? Object.entries(files) : files),
    z.array(z.tuple([z.string(), hostedFileSchema])).transform((files) => Object.fromEntries(files)),
  ),
  /** Redirected page addresses: `/old` → `/docs/new`. */
  redirects: z.record(z.string(), z.string()),
  /** The sources of permanent redirects. */
  permanentRedirects: z.array(z.string()).default([]),
  /** Redirects with wildcards, which apply if there is no page. */
  wildcards: wildcardRedirectsSchema.shape.redirects.default([]),
});

export type HostedFile = z.infer<typeof hostedFileSchema>;
export type PreparedSite = z.infer<typeof preparedSiteSchema>;
export type Encoding = 'br' | 'gzip';

const siteFile = 'site.json';

const digestLength = 16;
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
 * Prepares a version for serving from the files of its bundle. `found`: all files by path, as they were checked. Writes `site.json` last; a folder
 * without it is not a version. Throws `BundleRefused` for pages and lists that are too large.
 */
export async function prepareSite(
  folder: string,
  { base, isAirGapped }: Pick<PreparedSite, 'base' | 'isAirGapped'>,
  manifest: PreparedSite['manifest'],
  found: ReadonlyMap<string, { size: number; sha256: string }>,
): Promise<PreparedSite> {
  for (const made of ['pages', 'br', 'gzip', siteFile]) await rm(join(folder, made), { recursive: true, force: true });
  const token = manifest.sha256.slice(0, digestLength);
  const digestOf = (path: string) => found.get(path)?.sha256.slice(0, digestLength);
  const addresses: SiteAddresses = { base, token, digestOf, isAirGapped };
  const redirects: Record<string, string> = {};
  const permanentRedirects: string[] = [];
  const prepareFile = async (path: string): Promise<[string, HostedFile][]> => {
    const digest = digestOf(path) ?? '';
    const isPage = path.endsWith('.html');
    const type = contentType(path);
    const original = found.get(path) ?? { size: 0, sha256: '' };
    const isSmall = original.size <= mostBytes;
    if (isPage && original.size > mostPageBytes)
      throw new BundleRefused(`${path} has ${original.size} bytes, and a page may have at most ${mostPageBytes}`);
    if (!isPage && !(isSmall && isText(type))) return [[path, { ...original, digest, type, isPage }]];
    let body = await readFile(join(folder, 'files', path));
    let policy: string | undefined;
    if (isPage) {
      const html = body.toString('utf8');
      const redirection = redirectOf(html, path, addresses);
      if (redirection !== undefined) {
        const source = `/${path.slice(0, -'.html'.length)}`;
        redirects[source] = redirection.to;
        if (redirection.permanent) permanentRedirects.push(source);
        return [];
      }
      policy = policyOf(html, isAirGapped);
      body = Buffer.from(rewritePage(html, path, addresses));
      await write(join(folder, 'pages', path), body);
    }
    const copies = await compressed(body, path, isPage);
    for (const [encoding, bytes] of copies) await write(join(folder, encoding, path), bytes);
    const variants = Object.fromEntries(copies.map(([encoding, bytes]) => [encoding, described(bytes)]));
    return [[path, { ...described(body), digest, type, isPage, ...(policy !== undefined && { policy }), ...variants }]];
  };
  const isLarge = (path: string): boolean => path.endsWith('.html') && (found.get(path)?.size ?? 0) > largePageBytes;
  const [large = [], small = []] = [true, false].map((wanted) =>
    [...found.keys()].filter((path) => isLarge(path) === wanted),
  );
  const prepared = [...(await inParallel(small, atOnce, prepareFile)), ...(await inParallel(large, 1, prepareFile))];
  const site: PreparedSite = {
    formatVersion,
    base,
    isAirGapped,
    token,
    manifest,
    files: Object.fromEntries(prepared.flat()),
    redirects,
    permanentRedirects,
    wildcards: await wildcardsIn(folder, found),
  };
  await write(join(folder, siteFile), Buffer.from(JSON.stringify(site)));
  return site;
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
export const fileOf = (folder: string, path: string, { isPage }: HostedFile, encoding?: Encoding): string =>
  join(folder, encoding ?? (isPage ? 'pages' : 'files'), path);

/**
 * The list of a version; undefined if there is none, or another program wrote it. Throws `BundleRefused` for a list that is too long for the memory of
 * this process.
 */
export async function readSiteList(folder: string): Promise<PreparedSite | undefined> {
  const file = join(folder, siteFile);
  const size = await stat(file).then(
    (found) => found.size,
    () => undefined,
  );
  if (size === undefined) return undefined;
  if (size > mostListBytes)
    throw new BundleRefused(
      `the bundle has so many files that their list has ${size} bytes, and this process has memory for ${mostListBytes}`,
    );
  return preparedSiteSchema.safeParse(jsonIn(await readFile(file, 'utf8'))).data;
}

/** Size limit of the list of a version's files. In memory a list takes three times its size, and three lists exist while a version is replaced. */
const mostListBytes = Math.floor(getHeapStatistics().heap_size_limit / 10);

/** Reads a version that was prepared earlier and checks every byte of it; undefined if it is incomplete or damaged. Throws as `readSiteList`. */
export async function readPreparedSite(folder: string): Promise<PreparedSite | undefined> {
  const site = await readSiteList(folder);
  if (site === undefined) return undefined;
  const checks = Object.entries(site.files).flatMap(([path, file]): [string, string][] => [
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
  return whole.every(Boolean) ? site : undefined;
}

const described = (bytes: Uint8Array) => ({ size: bytes.length, sha256: sha256Of(bytes) });

async function write(file: string, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, bytes);
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
