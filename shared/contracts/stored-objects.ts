import { z } from 'zod';
import { diagnosticSchema } from './diagnostic.ts';
import {
  type ContentId,
  contentVersion,
  domainSlug,
  organizationId,
  rendererVersion,
  sha256Hex,
} from './identifiers.ts';

/*
 * What is in the object store, by key. The parts of a key are checked by their schemas before they get here.
 *
 *   blobs/<org>/<sha256>                             a file of a docs project, once for all domains and versions
 *   contents/<org>/<domain>/<version>/               site-model.json, and markdown/<page>.md for the assistant
 *   selections/<org>/<hash>.json                     the pages that a request named
 *   plans/<org>/<hash>.json                          what one export consists of
 *   segments/<org>/<key>, <key>.json                 rendered files of one chunk, and their sidecar
 *   bundles/<org>/<domain>/<plan hash>.tar.gz        what clients download
 *   archive/<org>/<job>.json                         the history of a job that ended long ago
 */

export const blobPrefix = 'blobs/';
export const blobKey = (organization: string, sha256: string): string => `${blobPrefix}${organization}/${sha256}`;

/**
 * Hashes of the objects that a stored document needs, given as its text: files of a site model, segments of a plan. Everything that looks
 * like a hash counts, so that formats of later versions keep what they name.
 */
export function* hashesIn(json: string): Generator<string> {
  for (const [, hash] of json.matchAll(/"([0-9a-f]{64})"/g)) if (hash !== undefined) yield hash;
}

export const contentPrefix = 'contents/';
const contentFolder = ({ organization, domain, contentVersion }: ContentId): string =>
  `${contentPrefix}${organization}/${domain}/${contentVersion}/`;

export const siteModelKey = (content: ContentId): string => `${contentFolder(content)}site-model.json`;
export const pageMarkdownPrefix = (content: ContentId): string => `${contentFolder(content)}markdown/`;

/** Authors choose page paths, and keys have fewer characters: the others are percent-encoded, with `=` in place of `%`. */
export function pageMarkdownKey(content: ContentId, path: string): string {
  const encoded = (character: string): string =>
    Buffer.from(character).toString('hex').toUpperCase().replaceAll(/../g, '=$&');
  return `${pageMarkdownPrefix(content)}${path.replaceAll(/[^A-Za-z0-9._~/-]/gu, encoded)}.md`;
}

export const deploymentTypes = ['cloud', 'client-hosted', 'air-gapped'] as const;

/** What pages can do beside being read. */
export const siteFeatures = {
  /** `server`: asks the platform. `bundle`: searches the index in the bundle, which needs no server. */
  search: z.enum(['server', 'bundle', 'off']),
  assistant: z.boolean(),
  analytics: z.boolean(),
  playground: z.boolean(),
};

/** What `_bindery/config.js` says beside what follows from the content and the deployment type. No page's bytes depend on it. */
const siteOptionsSchema = z.object({
  /** The platform's public address when the export was asked for, without a slash at the end: a replay says the same. */
  serverUrl: z.string().optional(),
  /** A public key of the organization. */
  assistantKey: z.string().optional(),
  /** Where the request wanted others than the deployment type has. */
  features: z.object(siteFeatures).partial().optional(),
});

export type SiteOptions = z.infer<typeof siteOptionsSchema>;

/** What changes the bytes of an export beside its content and its pages. */
const renderOptions = {
  groups: z.array(z.string()),
  deployment: z.enum(deploymentTypes),
  onPageError: z.enum(['fail', 'report']),
  allowTenantScripts: z.boolean(),
  site: siteOptionsSchema.optional(),
};

/** The options of an export that its requester chose. `selectionKey` names the object with the chosen pages; absent: all pages. */
export const exportOptionsSchema = z.object({ selectionKey: z.string().optional(), ...renderOptions });

export type ExportOptions = z.infer<typeof exportOptionsSchema>;

/** The pages that a request named (`paths`), stored once under the SHA-256 of its canonical JSON; page paths, sorted, each once. */
export const exportSelectionSchema = z.object({ version: z.literal(1), paths: z.array(z.string()).min(1) });

export type ExportSelection = z.infer<typeof exportSelectionSchema>;

export const selectionKey = (organization: string, hash: string): string => `selections/${organization}/${hash}.json`;

/** `key` names the segment of the chunk. */
const planChunkSchema = z.discriminatedUnion('kind', [
  /** Theme, shared navigation, settings, redirects: made from the site model alone. Always chunk 0. */
  z.object({ kind: z.literal('site'), key: sha256Hex }),
  /** Files of the project as they are; paths in the project. */
  z.object({ kind: z.literal('assets'), key: sha256Hex, paths: z.array(z.string()) }),
  /** Page paths (`guides/x`), in bundle order. */
  z.object({ kind: z.literal('pages'), key: sha256Hex, paths: z.array(z.string()) }),
]);

/**
 * What one export consists of, in bundle order; its hash is the SHA-256 of its canonical JSON. It holds no time, no job id and nothing
 * random, so the same content, options and renderer version always make the same plan, and so the same bundle.
 */
export const exportPlanSchema = z.object({
  version: z.literal(1),
  organization: organizationId,
  domain: domainSlug,
  contentVersion,
  /** Shown in the manifest only. */
  label: z.string().optional(),
  rendererVersion,
  ...renderOptions,
  pageTotal: z.int().min(0),
  chunks: z.array(planChunkSchema).min(1),
  closingKey: sha256Hex,
});

export type ExportPlan = z.infer<typeof exportPlanSchema>;
export type PlanChunk = z.infer<typeof planChunkSchema>;

export const planKey = (organization: string, planHash: string): string => `plans/${organization}/${planHash}.json`;
export const segmentPrefix = 'segments/';
export const segmentKey = (organization: string, key: string): string => `${segmentPrefix}${organization}/${key}`;
export const sidecarKey = (organization: string, key: string): string => `${segmentKey(organization, key)}.json`;
export const bundleKey = (organization: string, domain: string, planHash: string): string =>
  `bundles/${organization}/${domain}/${planHash}.tar.gz`;

/** What the closing segment needs of one rendered page beside its text. `path` as readers know it (`guides/x`). */
export const pageFactsSchema = z.object({
  path: z.string(),
  title: z.string(),
  description: z.string().optional(),
  /** Sizes of its texts, without what ends each: known before they are read. */
  fullTextBytes: z.int().min(0),
  searchBytes: z.int().min(0).default(0),
  /** Of its sections in the search index. */
  searchCharacters: z.int().min(0),
  /** Internal link targets as written, `/`-rooted, without query; with `#anchor`. */
  links: z.array(z.string()),
  /** The line of each in the page's source, 0 where it is not known; absent: no line is known. */
  linkLines: z.array(z.int().min(0)).optional(),
  /** The column of each in that line, 0 where it is not known; absent: no column is known. */
  linkColumns: z.array(z.int().min(0)).optional(),
  anchors: z.array(z.string()),
  /** Class names used in the page's own content. */
  classes: z.array(z.string()),
  diagnostics: z.array(diagnosticSchema),
  /** It has diagrams to draw; absent: it has none. */
  hasDiagrams: z.boolean().optional(),
  /** It can send requests of its operation: the name of the texts for that, `en` for English; absent: it cannot. */
  playground: z.string().optional(),
  /** It has components that run in the reader's browser; absent: it has none. */
  hasIslands: z.boolean().optional(),
  /** Names of the font files that its formulas need, as in `KaTeX_Main-Regular`; absent: it has none. */
  mathFonts: z.array(z.string()).optional(),
  /** Why the page shows its plain source instead, with `onPageError: "report"`. */
  failure: z.string().optional(),
  /** Feed entries (`Update`) of the page. */
  feedItems: z.array(z.object({ anchor: z.string(), title: z.string(), text: z.string(), tags: z.array(z.string()) })),
});

export type PageFacts = z.infer<typeof pageFactsSchema>;

/** Its texts, most of what is known of a page, as they stand in the files that have those of all pages. */
export type PageText = {
  /** Its part of `llms-full.txt`. */
  fullText: string;
  /** Its sections in the search index, from the visible text: `[[anchor, heading, text], …]` as JSON; the anchor is '' before the first heading. */
  search: string;
};

export type RenderedPage = PageFacts & PageText;

export const renderedPageSchema = pageFactsSchema.extend({ fullText: z.string(), search: z.string() });

/** Twice what the pages of a chunk can have. A child says how much it is, and it is inflated outside of it. */
const mostTextBytes = 128 * 1024 * 1024;

/** Where texts of pages are behind a sidecar, as deflate data, and what they are: bytes there and inflated, CRC-32 of the latter. */
const deflatedTextsSchema = z.object({
  sizeBytes: z.int().min(0),
  rawLength: z.int().min(0).max(mostTextBytes),
  crc32: z.int().min(0),
});

/**
 * Describes a segment; stored after it, so a sidecar that exists means that there is nothing to render. Its object has the texts of
 * the pages (`PageText`) behind it: see `sidecarBytes`.
 */
export const segmentSidecarSchema = z.object({
  version: z.literal(1),
  sha256: sha256Hex,
  /** CRC-32 of the raw (inflated) bytes. */
  crc32: z.int().min(0),
  rawLength: z.int().min(0),
  sizeBytes: z.int().min(0),
  files: z.array(z.object({ path: z.string(), size: z.int().min(0), sha256: sha256Hex })),
  pages: z.array(pageFactsSchema),
  /** The texts of all pages, of each kind one behind the other; absent: it has no pages. */
  texts: z.object({ search: deflatedTextsSchema, fullText: deflatedTextsSchema }).optional(),
  diagnostics: z.array(diagnosticSchema),
  /** Only of a closing segment: SHA-256 over the SHA-256s of the segments whose files its manifest lists (`segmentsDigest`). */
  madeFrom: sha256Hex.optional(),
});

export type SegmentSidecar = z.infer<typeof segmentSidecarSchema>;

/**
 * What a segment's sidecar says about its bytes, whichever renderer version wrote it: a bundle joins segments of others. The rest is read by the
 * version alone that wrote it, because the keys of segments have the version in them.
 */
export const segmentDigestSchema = z.looseObject(
  segmentSidecarSchema.pick({
    version: true,
    sha256: true,
    crc32: true,
    rawLength: true,
    sizeBytes: true,
    madeFrom: true,
  }).shape,
);

export type SegmentDigest = z.infer<typeof segmentDigestSchema>;

/**
 * What vouches for a history. `anchor` is made with the audit key (`head-anchor.ts`). `lost` are commits that were seen, and that the log
 * did not have any more when the next one came, newest last.
 */
export const vouched = {
  anchor: sha256Hex.optional(),
  lost: z
    .array(z.object({ revision: z.int().min(1), commitId: z.string(), hash: sha256Hex.optional() }))
    .min(1)
    .max(10)
    .optional(),
};

/**
 * The whole history of an export job that ended long ago, as an object: its messages just as the stream had them, so that the hash chain
 * can be verified, in the order of the stream. `sequence` is the stream's own and stays internal.
 */
export const archivedJobSchema = z.object({
  version: z.literal(1),
  subject: z.string(),
  messages: z.array(z.object({ sequence: z.int().positive(), text: z.string() })).min(1),
  /** The anchor of its last commit, and the commits that the log had lost before, as the job's status said. Older objects have none. */
  ...vouched,
});

export type ArchivedJob = z.infer<typeof archivedJobSchema>;

/** What housekeeping asks of an archived job without reading it: metadata of its object. */
export const archivedJobHeadSchema = z.object({
  'ended-at': z.iso.datetime(),
  domain: z.string(),
  'content-version': z.string(),
  'plan-hash': z.string().optional(),
  'selection-key': z.string().optional(),
});

export type ArchivedJobHead = z.infer<typeof archivedJobHeadSchema>;

export const archivePrefix = 'archive/';
export const archivedJobKey = (organization: string, jobId: string): string =>
  `${archivePrefix}${organization}/${jobId}.json`;

/** Redirects of a project with wildcards: no folder of files can serve them, a host can. */
export const wildcardRedirectsPath = '_bindery/redirects.json';

/** A path with `:name`, `:name*` or `*`, and the path or https address that it leads to. */
const wildcardRedirectSchema = z.object({ source: z.string(), destination: z.string(), permanent: z.boolean() });

export type WildcardRedirect = z.infer<typeof wildcardRedirectSchema>;

export const wildcardRedirectsSchema = z.object({
  formatVersion: z.literal(1),
  redirects: z.array(wildcardRedirectSchema),
});
