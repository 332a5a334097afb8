import { createHash } from 'node:crypto';
import { pipeline, type Readable, Transform } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import { jsonIn, sha256Of, sha256OfStream } from '#shared/runtime/canonical-json.ts';
import { firstProblem, problemText } from '#shared/runtime/problem-text.ts';
import { ArchiveRefused } from './archive-names.ts';
import { type ArchiveBudgets, readArchive } from './read-archive.ts';

export type Findings = { errors: number; warnings: number };

export type BundleReport = {
  /** Number of files, including the manifest. */
  files: number;
  /** Size of the archive as read. */
  sizeBytes: number;
  /** SHA-256 of the archive, 64 hex digits; undefined if it could not be read completely. */
  sha256: string | undefined;
  /** SHA-256 of its manifest; undefined if it has none. */
  manifestSha256: string | undefined;
  /** Numbers of findings in the bundle's report for authors; undefined if it has none. */
  findings: Findings | undefined;
  /** Sentences, at most 100; none if the files are exactly those that the manifest lists. */
  problems: string[];
};

/** Users verify their own bundles, so these budgets refuse only sizes that no real bundle reaches. */
const generousBudgets: ArchiveBudgets = { packedBytes: 1e11, unpackedBytes: 1e12, entries: 5_000_000, ratio: Infinity };
/** Maximum size of a manifest. One of 400,000 files has about 100 MB, and a text in memory has 512 MB at most. */
export const maxManifestBytes = 256 * 1024 * 1024;
const maxProblems = 100;

/** Size and digest of a file in the bundle. */
export type FoundFile = { size: number; sha256: string };

/**
 * Checks a bundle (`.tar.gz`) against its own manifest in one pass; memory grows with the number of files, not with their sizes. Rejects only if
 * `packed` cannot be read.
 */
export async function verifyBundle(packed: Readable, budgets: ArchiveBudgets = generousBudgets): Promise<BundleReport> {
  const whole = createHash('sha256');
  let sizeBytes = 0;
  const metered = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      sizeBytes += chunk.length;
      whole.update(chunk);
      done(null, chunk);
    },
  });
  pipeline(packed, metered, () => {}); // Errors are passed to the reader of `metered`.
  const found = new Map<string, FoundFile>();
  const tops = new Set<string>();
  let manifest: Buffer | undefined;
  let findings: Findings | undefined;
  const report = (problems: string[], sha256?: string): BundleReport => ({
    files: found.size,
    sizeBytes,
    sha256,
    manifestSha256: manifest === undefined ? undefined : sha256Of(manifest),
    findings,
    problems: problems.slice(0, maxProblems),
  });
  try {
    for await (const { path, size, body } of readArchive(metered, budgets, { portableNames: true, oneMember: true })) {
      const [top = '', ...below] = path.split('/');
      const name = below.join('/');
      tops.add(top);
      if (name === manifestPath && size <= maxManifestBytes) {
        manifest = await buffer(body);
        found.set(name, { size, sha256: '' });
      } else if (name === authorReportPath && size <= maxManifestBytes) {
        const bytes = await buffer(body);
        findings = authorReportSchema.safeParse(jsonIn(bytes.toString('utf8'))).data?.summary;
        found.set(name, { size, sha256: sha256Of(bytes) });
      } else {
        found.set(name === '' ? path : name, { size, sha256: await sha256OfStream(body) });
      }
    }
  } catch (error) {
    if (!(error instanceof ArchiveRefused)) throw error;
    return report([error.message]);
  }
  const problems =
    manifest === undefined ? [`the bundle has no ${manifestPath}`] : compareWithManifest(found, manifest);
  if (tops.size > 1) problems.unshift(`the bundle has more than one top folder: ${[...tops].slice(0, 5).join(', ')}`);
  return report(problems, whole.digest('hex'));
}

/** Differences from the manifest with these bytes, as sentences. `found` has all files of the bundle, by path below the top folder. Pure. */
export function compareWithManifest(found: ReadonlyMap<string, FoundFile>, bytes: Buffer): string[] {
  const value = jsonIn(bytes.toString('utf8'));
  if (value === undefined) return [`${manifestPath} is not JSON: it was changed or cut after the export`];
  const parsed = bundleManifestSchema.safeParse(value, { error: problemText });
  if (!parsed.success) return [`${manifestPath} is not a manifest: ${firstProblem(parsed.error, 'it')}`];
  const problems: string[] = [];
  const listed = new Set<string>(unlistedPaths);
  for (const { path, size, sha256 } of parsed.data.files) {
    listed.add(path);
    const file = found.get(path);
    if (file === undefined) problems.push(`${path} is missing`);
    else if (file.size !== size) problems.push(`${path} has ${file.size} bytes instead of ${size}`);
    else if (file.sha256 !== sha256) problems.push(`${path} does not match its SHA-256 in the manifest`);
  }
  for (const path of found.keys()) if (!listed.has(path)) problems.push(`${path} is not in the manifest`);
  return problems;
}

/** Path of the manifest, below the bundle's only top folder. */
export const manifestPath = '_bindery/manifest.json';

/** Path of the report for authors. */
export const authorReportPath = '_bindery/report.json';

const authorReportSchema = z.object({ summary: z.object({ errors: z.int(), warnings: z.int() }) });

/** Files that the manifest does not list: itself, and the file that may be edited after the export. */
export const unlistedPaths: readonly string[] = [manifestPath, '_bindery/config.js'];

/** The part of a manifest that is needed for verification. Paths are below the top folder. */
const bundleManifestSchema = z.looseObject({
  files: z.array(z.object({ path: z.string(), size: z.int().min(0), sha256: z.string() })),
});
