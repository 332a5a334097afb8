import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { isKnown } from '#shared/aggregates/content/decide.ts';
import { type Diagnostic, diagnosticSchema } from '#shared/contracts/diagnostic.ts';
import type { ContentId } from '#shared/contracts/identifiers.ts';
import { siteModelKey, versionFilesKey, versionFilesSchema } from '#shared/contracts/stored-objects.ts';
import { readBlob } from '#shared/export/read-blob.ts';
import { ApiError } from '#shared/http/errors.ts';
import type {
  ContentChanges,
  ContentChangesQuery,
  ContentDiagnostics,
  ContentDiagnosticsQuery,
  ContentSource,
  ContentSourceQuery,
} from '#shared/interfaces/http/content-reading.ts';
import type { BusParts } from '#shared/messaging/bus.ts';
import { contentLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { takeTurns } from '#shared/runtime/take-turns.ts';
import { type ObjectStore, type ReadOptions, storeWithin, unlessDamaged } from '#shared/storage/object-store.ts';
import { getJson } from '#shared/storage/stored-json.ts';

/** Limit of a site model that is read here: that of about 60,000 pages. */
const mostModelBytes = 64 * 1024 * 1024;
const mostTextBytes = 1024 * 1024;
const longestExcerpt = 300;
/** Limit of files whose lines one answer shows. */
const mostFilesRead = 100;
const readsAtOnce = 8;
const storeWithinMs = 20_000;
/** Memory of the contents that were read recently, in characters. */
const mostKeptCharacters = 40_000_000;
const overhead = 100;

const storedFile = z.object({ path: z.string(), sha256: z.string(), sizeBytes: z.number() });

/** The parts of a site model that are needed here, which models of all versions have. */
const modelPartsSchema = z.object({
  pages: z.array(
    z.object({ path: z.string(), file: z.string(), sha256: z.string(), sizeBytes: z.number(), title: z.string() }),
  ),
  ...{ snippets: z.array(storedFile), specs: z.array(storedFile), assets: z.array(storedFile) },
  ...{ styles: z.array(storedFile), scripts: z.array(storedFile) },
  diagnostics: z.array(diagnosticSchema),
});

type File = { sha256: string; sizeBytes: number };

/** A content version without what its pages say. */
type Outline = {
  /** By path, as readers know it. */
  pages: ReadonlyMap<string, File & { file: string; title: string }>;
  /** All files of the project, by path. */
  files: ReadonlyMap<string, File>;
  /** By file and line. */
  diagnostics: readonly Diagnostic[];
  characters: number;
};

export type ContentParts = { bus: Pick<BusParts, 'content'>; objectStore: ObjectStore };

/**
 * Answers questions about published contents: what differs between two, the source of a page, and findings. Rejects with `not_found`, or `too_large`
 * for a content whose site model has more than 64 MB. One site model is parsed at a time, because each takes several times its size of memory.
 */
export function readContent({ bus, objectStore }: ContentParts) {
  const kept = new LRUCache<string, Outline>({
    maxSize: mostKeptCharacters,
    sizeCalculation: ({ characters }) => characters,
  });
  const inTurn = takeTurns(1);

  async function outlineOf(
    { organization, domain, contentVersion }: ContentId,
    { signal }: { signal: AbortSignal },
  ): Promise<Outline> {
    const last = await bus.content.last(contentLogSubject(organization, domain));
    const content = { organization, domain, contentVersion };
    if (!isKnown(last?.commit.data.state, contentVersion)) throw noContent(contentVersion);
    const key = siteModelKey(content);
    const known = kept.get(key);
    if (known !== undefined) return known;
    return await inTurn(organization, async () => {
      const again = kept.get(key);
      if (again !== undefined) return again;
      const within = AbortSignal.any([signal, storeWithin(storeWithinMs)]);
      const head = await objectStore.head(key, { signal: within });
      if (head === undefined) throw noContent(contentVersion);
      if (head.sizeBytes > mostModelBytes) throw tooLarge(contentVersion);
      const outline = await readOutline(objectStore, content, { signal: within });
      if (outline === undefined) throw noContent(contentVersion);
      kept.set(key, outline);
      return outline;
    });
  }

  const textOf = async (organization: string, file: File, options: ReadOptions): Promise<string | undefined> => {
    if (file.sizeBytes > mostTextBytes) return undefined;
    const bytes = await unlessDamaged(readBlob(objectStore, organization, file.sha256, options));
    return bytes && asText(bytes);
  };

  return {
    async changes(content: ContentId, query: ContentChangesQuery, signal: AbortSignal): Promise<ContentChanges> {
      const { from, cursor = '0', limit } = query;
      const before = await outlineOf({ ...content, contentVersion: from }, { signal });
      const after = await outlineOf(content, { signal });
      const { summary, changes } = differences(before, after);
      const start = Number(cursor);
      return {
        ...{ domain: content.domain, contentVersion: content.contentVersion, from, summary },
        ...listPart(changes, start, limit, 'changes'),
      };
    },

    async source(content: ContentId, query: ContentSourceQuery, signal: AbortSignal): Promise<ContentSource> {
      const { page, file, from } = query;
      const sourceIn = async (contentVersion: string) => {
        const outline = await outlineOf({ ...content, contentVersion }, { signal });
        const found = page === undefined ? fileIn(outline, file ?? '') : pageIn(outline, page);
        if (found === undefined) return undefined;
        const { sha256, ...shown } = found;
        const within = AbortSignal.any([signal, storeWithin(storeWithinMs)]);
        const text = await textOf(content.organization, { ...shown, sha256 }, { signal: within });
        return { ...shown, ...(text === undefined ? {} : { text }) };
      };
      const source = await sourceIn(content.contentVersion);
      const before = from === undefined ? undefined : await sourceIn(from);
      if (source === undefined && before === undefined) {
        const what = page === undefined ? `file "${file}"` : `page "${page}"`;
        throw new ApiError('not_found', `There is no ${what} in this content.`);
      }
      return {
        ...{ domain: content.domain, contentVersion: content.contentVersion },
        ...(from === undefined ? {} : { from }),
        ...(source === undefined ? {} : { source }),
        ...(before === undefined ? {} : { before }),
      };
    },

    async diagnostics(
      content: ContentId,
      query: ContentDiagnosticsQuery,
      signal: AbortSignal,
    ): Promise<ContentDiagnostics> {
      const { severity, cursor = '0', limit } = query;
      const outline = await outlineOf(content, { signal });
      const wanted = outline.diagnostics.filter((each) => severity === undefined || each.severity === severity);
      const part = listPart(wanted, Number(cursor), limit, 'diagnostics');
      const within = AbortSignal.any([signal, storeWithin(storeWithinMs)]);
      const named = [...new Set(part.diagnostics.flatMap((each) => (each.line === undefined ? [] : [each.file])))];
      const lines = new Map<string, string[]>();
      await inParallel(named.slice(0, mostFilesRead), readsAtOnce, async (path) => {
        const file = outline.files.get(path);
        const text = file && (await textOf(content.organization, file, { signal: within }));
        if (text !== undefined) lines.set(path, text.split(/\r\n|\n|\r/));
      });
      const diagnostics = part.diagnostics.map((each) => {
        const line = each.line === undefined ? undefined : lines.get(each.file)?.[each.line - 1];
        return line === undefined ? each : { ...each, excerpt: line.slice(0, longestExcerpt) };
      });
      const countOf = (kind: Diagnostic['severity']) =>
        outline.diagnostics.filter((each) => each.severity === kind).length;
      return {
        ...{ domain: content.domain, contentVersion: content.contentVersion },
        summary: { errors: countOf('error'), warnings: countOf('warning'), infos: countOf('info') },
        ...part,
        diagnostics,
      };
    },
  };
}

const noContent = (contentVersion: string) =>
  new ApiError('not_found', `The content version ${contentVersion} is not published here.`);

const tooLarge = (contentVersion: string) =>
  new ApiError('too_large', `The content version ${contentVersion} has too many pages to be read here.`);

async function readOutline(
  objectStore: ObjectStore,
  content: ContentId,
  options: ReadOptions,
): Promise<Outline | undefined> {
  const model = await getJson(objectStore, siteModelKey(content), modelPartsSchema, options);
  if (model === undefined) return undefined;
  const pages = new Map(model.pages.map(({ path, ...rest }) => [path, rest]));
  // The list of files also has docs.json and others that no model names. Contents of earlier versions have none.
  const list = await getJson(objectStore, versionFilesKey(content), versionFilesSchema, options);
  const { snippets, specs, assets, styles, scripts } = model;
  const named = [...model.pages.map((page) => ({ ...page, path: page.file })), snippets, specs, assets, styles, scripts]
    .flat()
    .map(({ path, sha256, sizeBytes }) => [path, { sha256, sizeBytes }] as const);
  const listed = list?.files.map(([path, sha256, sizeBytes]) => [path, { sha256, sizeBytes }] as const) ?? [];
  const files = new Map([...named, ...listed]);
  const diagnostics = model.diagnostics.toSorted(byPlace);
  const characters =
    pages.entries().reduce((sum, [path, { file, title }]) => sum + path.length + file.length + title.length, 0) +
    files.keys().reduce((sum, path) => sum + path.length + overhead, overhead) +
    diagnostics.reduce((sum, { message }) => sum + message.length + overhead, 0);
  return { pages, files, diagnostics, characters };
}

const byPlace = (one: Diagnostic, other: Diagnostic): number =>
  byText(one.file, other.file) || (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0);

const byText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

type Change = ContentChanges['changes'][number];

/** Changes from one content to another: pages by path, then other files by path. Pure. */
function differences(before: Outline, after: Outline): Pick<ContentChanges, 'summary' | 'changes'> {
  const pages = changed(before.pages, after.pages).map(([path, change]): Change => {
    const title = (after.pages.get(path) ?? before.pages.get(path))?.title;
    return { kind: 'page', path, ...(title === undefined ? {} : { title }), change };
  });
  const sources = new Set([before, after].flatMap((each) => [...each.pages.values()].map(({ file }) => file)));
  const files = changed(before.files, after.files)
    .filter(([path]) => !sources.has(path))
    .map(([path, change]): Change => ({ kind: 'file', path, change }));
  const countOf = (change: Change['change']) => pages.filter((each) => each.change === change).length;
  const [added, removed, different] = [countOf('added'), countOf('removed'), countOf('changed')];
  const unchanged = after.pages.size - added - different;
  return {
    summary: { added, removed, changed: different, unchanged, otherFiles: files.length },
    changes: [...pages, ...files],
  };
}

function changed(
  before: ReadonlyMap<string, File>,
  after: ReadonlyMap<string, File>,
): (readonly [path: string, change: Change['change']])[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].sort(byText).flatMap((path) => {
    const [one, other] = [before.get(path), after.get(path)];
    if (one?.sha256 === other?.sha256) return [];
    return [[path, one === undefined ? 'added' : other === undefined ? 'removed' : 'changed'] as const];
  });
}

/** A part of a list under a name, with the cursor of the next one. Pure. */
function listPart<T, N extends string>(all: readonly T[], start: number, limit: number, name: N) {
  const end = start + limit;
  const part = { [name]: all.slice(start, end) } as Record<N, T[]>;
  return { ...part, ...(end < all.length ? { nextCursor: String(end) } : {}) };
}

function pageIn({ pages }: Outline, given: string) {
  const path = given.replace(/^\/+/, '');
  return pages.get(path === '' ? 'index' : path);
}

function fileIn({ files }: Outline, file: string): (File & { file: string }) | undefined {
  const found = files.get(file);
  return found && { file, ...found };
}

/** UTF-8 text; undefined for other bytes. */
function asText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
