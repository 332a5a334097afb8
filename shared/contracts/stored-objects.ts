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
 * The objects in the object store, by key. Schemas have checked the parts of a key before.
 *
 *   blobs/<org>/<sha256>                             a file of a docs project, once for all domains and versions
 *   contents/<org>/<domain>/<version>/               site-model.json, markdown/<page>.md for the assistant, and for the next publication files.json
 *                                                    and readings.gz
 *   contents/<org>/<domain>/arrived/<hash>.json      files that arrived before an upload was cut
 *   selections/<org>/<hash>.json                     the pages that a request named
 *   plans/<org>/<hash>.json                          the plan of one export
 *   segments/<org>/<key>, <key>.json                 rendered files of one chunk, and their sidecar
 *   parts/<org>/<key>, <key>.json                    texts of a run of chunks, and their facts, for the next closing segment
 *   parts/<org>/<key>.short                          the same texts shortened for the search index of a site with too many
 *   bundles/<org>/<domain>/<plan hash>.tar.gz        the archive that clients download
 *   bundles/<org>/<domain>/<plan hash>.tar.gz.pieces its pieces, for hosts that have most of them
 *   archive/<org>/<job>.json                         the history of a job that ended long ago
 */

export const blobPrefix = 'blobs/';
export const blobKey = (organization: string, sha256: string): string => `${blobPrefix}${organization}/${sha256}`;

/**
 * Hashes of the objects that a stored document needs, found in its text: files of a site model, segments of a plan. Every string in the
 * form of a hash counts, so that objects named by formats of later versions are kept.
 */
export function* hashesIn(json: string): Generator<string> {
  for (const [, hash] of json.matchAll(/"([0-9a-f]{64})"/g)) if (hash !== undefined) yield hash;
}

export const contentPrefix = 'contents/';
const contentFolder = ({ organization, domain, contentVersion }: ContentId): string =>
  `${contentPrefix}${organization}/${domain}/${contentVersion}/`;

export const siteModelKey = (content: ContentId): string => `${contentFolder(content)}site-model.json`;
export const pageMarkdownPrefix = (content: ContentId): string => `${contentFolder(content)}markdown/`;

/** Authors choose page paths, but keys allow fewer characters: the others are percent-encoded, with `=` in place of `%`. */
export function pageMarkdownKey(content: ContentId, path: string): string {
  const encoded = (character: string): string =>
    Buffer.from(character).toString('hex').toUpperCase().replaceAll(/../g, '=$&');
  return `${pageMarkdownPrefix(content)}${path.replaceAll(/[^A-Za-z0-9._~/-]/gu, encoded)}.md`;
}

/** A path in the project, the SHA-256 and size of its bytes, and true if they are stored. Files that no page needs are not stored. */
const listedFileSchema = z.tuple([z.string(), sha256Hex, z.int().min(0), z.boolean()]);

/** All files of a content version. The next publication of the domain need not send those that are stored. */
export const versionFilesSchema = z.object({ version: z.literal(1), files: z.array(listedFileSchema) });
export type VersionFiles = z.infer<typeof versionFilesSchema>;
export const versionFilesKey = (content: ContentId): string => `${contentFolder(content)}files.json`;

/** Key of the packed readings of a content version's files, which only the version of the code that made them can read. */
export const readingsKey = (content: ContentId): string => `${contentFolder(content)}readings.gz`;

/** SHA-256 and size of files that arrived before an upload was cut, and were stored. The record is as old as its youngest file. */
export const arrivedFilesSchema = z.object({
  version: z.literal(1),
  files: z.array(z.tuple([sha256Hex, z.int().min(0)])).min(1),
});
export type ArrivedFiles = z.infer<typeof arrivedFilesSchema>;
type Domain = Omit<ContentId, 'contentVersion'>;
export const arrivedFilesPrefix = ({ organization, domain }: Domain): string =>
  `${contentPrefix}${organization}/${domain}/arrived/`;
export const arrivedFilesKey = (domain: Domain, hash: string): string => `${arrivedFilesPrefix(domain)}${hash}.json`;

export const deploymentTypes = ['cloud', 'client-hosted', 'air-gapped'] as const;

/** Interactive features of the pages. */
export const siteFeatures = {
  /** `server`: sends requests to the platform. `bundle`: searches the index in the bundle, which needs no server. */
  search: z.enum(['server', 'bundle', 'off']),
  assistant: z.boolean(),
  analytics: z.boolean(),
  playground: z.boolean(),
};

/** Settings in `_bindery/config.js` that do not follow from the content and the deployment type. The bytes of pages do not depend on them. */
const siteOptionsSchema = z.object({
  /** The platform's public address at the time of the request, without a slash at the end. A replay keeps it. */
  serverUrl: z.string().optional(),
  /** A public key of the organization. */
  assistantKey: z.string().optional(),
  /** Features for which the request overrides the deployment type. */
  features: z.object(siteFeatures).partial().optional(),
});

export type SiteOptions = z.infer<typeof siteOptionsSchema>;

/** Options that change the bytes of an export, in addition to its content and its pages. */
const renderOptions = {
  groups: z.array(z.string()),
  deployment: z.enum(deploymentTypes),
  onPageError: z.enum(['fail', 'report']),
  allowTenantScripts: z.boolean(),
  site: siteOptionsSchema.optional(),
};

/** The options of an export that its requester chose. `selectionKey` names the object with the chosen pages; absent for all pages. */
export const exportOptionsSchema = z.object({ selectionKey: z.string().optional(), ...renderOptions });

export type ExportOptions = z.infer<typeof exportOptionsSchema>;

/** The pages that a request named (`paths`), stored once under the SHA-256 of its canonical JSON. Page paths are sorted and unique. */
export const exportSelectionSchema = z.object({ version: z.literal(1), paths: z.array(z.string()).min(1) });

export type ExportSelection = z.infer<typeof exportSelectionSchema>;

export const selectionKey = (organization: string, hash: string): string => `selections/${organization}/${hash}.json`;

/** A chunk of a plan. `key` names its segment. */
const planChunkSchema = z.discriminatedUnion('kind', [
  /** Theme, shared navigation, settings, redirects: made only from the site model. Always chunk 0. */
  z.object({ kind: z.literal('site'), key: sha256Hex }),
  /** Files of the project that are copied; paths in the project. */
  z.object({ kind: z.literal('assets'), key: sha256Hex, paths: z.array(z.string()) }),
  /** Page paths (`guides/x`), in bundle order. */
  z.object({ kind: z.literal('pages'), key: sha256Hex, paths: z.array(z.string()) }),
]);

/**
 * The plan of one export, in bundle order. Its hash is the SHA-256 of its canonical JSON. It contains no time, no job id and nothing
 * random, so the same content, options and renderer version always make the same plan, and so the same bundle.
 */
export const exportPlanSchema = z.object({
  version: z.literal(1),
  organization: organizationId,
  domain: domainSlug,
  contentVersion,
  /** Label of the content, shown only in the manifest. */
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
export const partPrefix = 'parts/';
export const partTextsKey = (organization: string, key: string): string => `${partPrefix}${organization}/${key}`;
export const partFactsKey = (organization: string, key: string): string => `${partTextsKey(organization, key)}.json`;
export const partShortTextsKey = (organization: string, key: string): string =>
  `${partTextsKey(organization, key)}.short`;
export const bundlePrefix = 'bundles/';
export const bundleKey = (organization: string, domain: string, planHash: string): string =>
  `${bundlePrefix}${organization}/${domain}/${planHash}.tar.gz`;
/** Key of the pieces of a bundle, by the key of the bundle. */
export const bundlePiecesKey = (key: string): string => `${key}.pieces`;

/**
 * The consecutive pieces of a bundle after its header: each segment, or the pieces of it. Size and SHA-256 of the packed bytes. Each piece ends with a full
 * flush.
 */
export const bundlePiecesSchema = z.object({
  version: z.literal(1),
  pieces: z.array(z.tuple([z.int().min(0), sha256Hex])),
});

/** Number of bytes before the first piece of a bundle. */
export const bundleHeaderBytes = 10;

/** Data of one rendered page for the closing segment, without its text. `path` is the path in URLs (`guides/x`). */
export const pageFactsSchema = z.object({
  path: z.string(),
  title: z.string(),
  description: z.string().optional(),
  /** Sizes of the page's texts without their terminators, known before the texts are read. */
  fullTextBytes: z.int().min(0),
  searchBytes: z.int().min(0).default(0),
  /** Number of characters of the page's sections in the search index. */
  searchCharacters: z.int().min(0),
  /** Internal link targets as written, starting with `/`, without query, with `#anchor`. */
  links: z.array(z.string()),
  /** The line of each link in the page's source, 0 if it is not known; absent if none is known. */
  linkLines: z.array(z.int().min(0)).optional(),
  /** The column of each link in its line, 0 if it is not known; absent if none is known. */
  linkColumns: z.array(z.int().min(0)).optional(),
  /** The snippet in which each link is, '' for a link in the page's own file; absent if all are there. */
  linkFiles: z.array(z.string()).optional(),
  anchors: z.array(z.string()),
  /** Class names used in the page's own content. */
  classes: z.array(z.string()),
  diagnostics: z.array(diagnosticSchema),
  /** True if the page has diagrams to draw; absent otherwise. */
  hasDiagrams: z.boolean().optional(),
  /** The language of the playground's texts (`en` for English), if the page can send requests of its operation; absent otherwise. */
  playground: z.string().optional(),
  /** True if the page has components that run in the reader's browser; absent otherwise. */
  hasIslands: z.boolean().optional(),
  /** Names of the font files for the page's formulas, such as `KaTeX_Main-Regular`; absent if it has no formulas. */
  mathFonts: z.array(z.string()).optional(),
  /** The reason why the page shows its plain source instead, with `onPageError: "report"`. */
  failure: z.string().optional(),
  /** Feed entries (`Update`) of the page. */
  feedItems: z.array(z.object({ anchor: z.string(), title: z.string(), text: z.string(), tags: z.array(z.string()) })),
});

export type PageFacts = z.infer<typeof pageFactsSchema>;

/** The texts of a page, which are most of its data, in the form that they have in the files with the texts of all pages. */
export type PageText = {
  /** The page's part of `llms-full.txt`. */
  fullText: string;
  /**
   * The page's sections in the search index, from the visible text: `[[anchor, heading, text], …]` as JSON. The anchor is '' before the
   * first heading.
   */
  search: string;
};

export type RenderedPage = PageFacts & PageText;

export const renderedPageSchema = pageFactsSchema.extend({ fullText: z.string(), search: z.string() });

/**
 * Limit of the inflated size: twice the maximum of a chunk's pages. A child process reports the size, and the texts are inflated outside of
 * it.
 */
const mostTextBytes = 128 * 1024 * 1024;

/** The deflated texts of pages after a sidecar: their sizes deflated and inflated, and the CRC-32 of the inflated bytes. */
const deflatedTextsSchema = z.object({
  sizeBytes: z.int().min(0),
  rawLength: z.int().min(0).max(mostTextBytes),
  crc32: z.int().min(0),
});

/**
 * The description of a segment. It is stored after the segment, so if a sidecar exists, the chunk need not be rendered. The texts of the pages
 * (`PageText`) follow it in the same object: see `sidecarBytes`.
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
  /** The texts of all pages, one after the other for each kind; absent without pages. */
  texts: z.object({ search: deflatedTextsSchema, fullText: deflatedTextsSchema }).optional(),
  diagnostics: z.array(diagnosticSchema),
  /** Present in a closing segment: SHA-256 over the SHA-256s of the segments whose files its manifest lists (`segmentsDigest`). */
  madeFrom: sha256Hex.optional(),
  /**
   * Present in a closing segment: size and SHA-256 of the consecutive pieces of its packed bytes. The copied texts of a chunk are a separate piece,
   * so the closing segment of an earlier content version shares most pieces.
   */
  pieces: z.array(z.tuple([z.int().min(1), sha256Hex])).optional(),
  /** Present in a closing segment: numbers of findings in the report of the export, so that they are known without inflating it. */
  findings: z.object({ errors: z.int().min(0), warnings: z.int().min(0) }).optional(),
});

export type SegmentSidecar = z.infer<typeof segmentSidecarSchema>;

/**
 * The part of a sidecar about the segment's bytes, which is the same for every renderer version, because a bundle joins segments of other
 * versions. Only the version that wrote a sidecar reads the rest, because the keys of segments include the version.
 */
export const segmentDigestSchema = z.looseObject(
  segmentSidecarSchema.pick({
    version: true,
    sha256: true,
    crc32: true,
    rawLength: true,
    sizeBytes: true,
    madeFrom: true,
    pieces: true,
    findings: true,
  }).shape,
);

export type SegmentDigest = z.infer<typeof segmentDigestSchema>;

/**
 * The proof of a history. `anchor` is made with the audit key (`head-anchor.ts`). `lost` are commits that a read model had seen, but that were
 * missing from the log when the next commit arrived, newest last.
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
 * The whole history of an export job that ended long ago, as an object: its messages as stored in the stream, so that the hash chain can be
 * verified, in the order of the stream. `sequence` is the stream's own and stays internal.
 */
export const archivedJobSchema = z.object({
  version: z.literal(1),
  subject: z.string(),
  messages: z.array(z.object({ sequence: z.int().positive(), text: z.string() })).min(1),
  /** The anchor of the last commit, and the commits that the log had lost before, from the job's status. Older objects have none. */
  ...vouched,
});

export type ArchivedJob = z.infer<typeof archivedJobSchema>;

/** Metadata of an archived job's object, which housekeeping uses without reading the object. */
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

/** Redirects of a project with wildcards, which a folder of files cannot serve, but a host can. */
export const wildcardRedirectsPath = '_bindery/redirects.json';

/** A path with `:name`, `:name*` or `*`, and its target as a path or https address. */
const wildcardRedirectSchema = z.object({ source: z.string(), destination: z.string(), permanent: z.boolean() });

export type WildcardRedirect = z.infer<typeof wildcardRedirectSchema>;

export const wildcardRedirectsSchema = z.object({
  formatVersion: z.literal(1),
  redirects: z.array(wildcardRedirectSchema),
});
