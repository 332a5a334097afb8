import { manifestPath, unlistedPaths } from '#shared/export/bundle/verify-bundle.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import { BundleRefused } from './bundle-refused.ts';
import type { PartedBytes } from './content-folder.ts';
import type { ChangedFiles } from './prepared-site.ts';

/*
 * A version that was compared with its manifest, and the next bundle, whose manifest has most entries in common with it: only the others are parsed and
 * compared with the files that changed.
 */

/** An entry of a manifest. */
type Entry = { path: string; size: number; sha256: string };

/** The facts of the later manifest without its files, and the entries that only one of two manifests has. */
export type ManifestChanges = { facts: unknown; gone: Entry[]; fresh: Entry[] };

/** The difference between two manifests as exports write them: JSON whose lines are indented by a space. Undefined for other texts. Pure. */
export function manifestChanges(before: Buffer, after: Buffer): ManifestChanges | undefined {
  const [one, other] = [filesOf(before), filesOf(after)];
  if (one === undefined || other === undefined) return undefined;
  const [gone, fresh] = beside(one.entries, other.entries).map(entriesIn);
  return gone && fresh && { facts: other.facts, gone, fresh };
}

/** The entries that only one of two lists has. Both are sorted by path; of others, too many are returned. */
function beside(before: readonly Buffer[], after: readonly Buffer[]): [gone: Buffer[], fresh: Buffer[]] {
  const gone: Buffer[] = [];
  const fresh: Buffer[] = [];
  let [at, next] = [0, 0];
  while (at < before.length || next < after.length) {
    const [one, other] = [before[at], after[next]];
    if (one !== undefined && other !== undefined && one.equals(other)) {
      at += 1;
      next += 1;
      continue;
    }
    const [path, otherPath] = [one && pathOf(one), other && pathOf(other)];
    if (one !== undefined && (otherPath === undefined || (path ?? '') <= otherPath)) {
      gone.push(one);
      at += 1;
    }
    if (other !== undefined && (path === undefined || (otherPath ?? '') <= path)) {
      fresh.push(other);
      next += 1;
    }
  }
  return [gone, fresh];
}

/** The path of an entry, by which both manifests are sorted. */
const pathOf = (entry: Buffer): string => {
  const quoted = entry.toString('utf8', pathBegins.length, entry.indexOf(pathEnds));
  const path = jsonIn(quoted);
  return typeof path === 'string' ? path : quoted;
};

const pathBegins = '   "path": ';
const pathEnds = ',\n';

const listBegins = Buffer.from('\n "files": [\n  {\n');
const listEnds = Buffer.from('\n  }\n ]\n}\n');
const between = Buffer.from('\n  },\n  {\n');

/** The facts of a manifest, and the text of each of its entries without braces. */
function filesOf(manifest: Buffer): { facts: unknown; entries: Buffer[] } | undefined {
  const begins = manifest.indexOf(listBegins);
  const ends = manifest.length - listEnds.length;
  if (begins < 0 || begins + listBegins.length > ends || !manifest.subarray(ends).equals(listEnds)) return undefined;
  const facts: unknown = jsonIn(`${manifest.toString('utf8', 0, begins)}\n "files": []\n}`);
  if (facts === undefined) return undefined;
  const entries: Buffer[] = [];
  for (let at = begins + listBegins.length; at < ends; ) {
    const found = manifest.indexOf(between, at);
    const end = found < 0 ? ends : found;
    entries.push(manifest.subarray(at, end));
    at = end + between.length;
  }
  return { facts, entries };
}

const entryForm = /^ {3}"path": ("(?:[^"\\\n]|\\.)*"),\n {3}"size": (\d+),\n {3}"sha256": "([0-9a-f]{64})"$/;

function entriesIn(texts: readonly Buffer[]): Entry[] | undefined {
  const entries: Entry[] = [];
  for (const text of texts) {
    const [, quoted = '', size = '', sha256 = ''] = entryForm.exec(text.toString()) ?? [];
    const path = jsonIn(quoted);
    if (typeof path !== 'string') return undefined;
    entries.push({ path, size: Number(size), sha256 });
  }
  return entries;
}

const isListed = (path: string): boolean => !unlistedPaths.includes(path);

/** The entry of a file in the later manifest; undefined if it has none. */
export function entryOf(
  path: string,
  list: ChangedFiles['list'],
  { gone, fresh }: ManifestChanges,
): Pick<Entry, 'size' | 'sha256'> | undefined {
  const entry = fresh.find((each) => each.path === path);
  return entry ?? (gone.some((each) => each.path === path) ? undefined : list.bundled(path));
}

/** Compares the files that changed since a version with the changes of the manifest. Throws `BundleRefused` for a difference. */
export function compareChanges({ list, added, removed }: ChangedFiles, { gone, fresh }: ManifestChanges): void {
  const goneAt = new Map(gone.map((entry) => [entry.path, entry]));
  const freshAt = new Map(fresh.map((entry) => [entry.path, entry]));
  const isLike = (one: PartedBytes | Entry | undefined, other: PartedBytes | Entry | undefined): boolean =>
    one !== undefined && other !== undefined && one.size === other.size && one.sha256 === other.sha256;
  const refuse = (path: string, what: string): never => {
    throw new BundleRefused(`the bundle does not match its manifest: ${path} ${what}`);
  };
  for (const [path, bytes] of added) {
    if (!isListed(path)) continue;
    const listed = freshAt.get(path) ?? (goneAt.has(path) ? undefined : list.bundled(path));
    if (listed === undefined) refuse(path, `is not in ${manifestPath}`);
    if (!isLike(listed, bytes)) refuse(path, 'has other bytes');
  }
  for (const path of removed)
    if (isListed(path) && (freshAt.has(path) || !goneAt.has(path))) refuse(path, 'is missing');
  for (const { path } of gone)
    if (!freshAt.has(path) && !added.has(path) && !removed.has(path)) refuse(path, `is not in ${manifestPath}`);
  for (const entry of fresh) {
    const { path } = entry;
    if (!added.has(path) && (removed.has(path) || !isLike(list.bundled(path), entry))) refuse(path, 'is missing');
  }
}
