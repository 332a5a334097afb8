import type { Readable } from 'node:stream';
import { contentAggregate, type ContentEvent, type ContentState } from '#shared/aggregates/content/content.ts';
import { isKnown, publishContent } from '#shared/aggregates/content/decide.ts';
import type { PublicationSource } from '#shared/contracts/publication-source.ts';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import type { MissingContents, PublishedContent } from '#shared/interfaces/http/content.ts';
import { fileListName, type ListedFile } from '#shared/interfaces/http/listed-files.ts';
import type { Caller } from '#shared/interfaces/internal/caller.ts';
import type { ContentId } from '#shared/contracts/identifiers.ts';
import { readingsKey, siteModelKey } from '#shared/contracts/stored-objects.ts';
import { analyzeProject, rereadInChild } from '#shared/docs/project/analyze-project.ts';
import { changedPages, revisedModel } from '#shared/docs/project/changed-pages.ts';
import { InvalidProject } from '#shared/docs/project/diagnostics.ts';
import { isSource } from '#shared/docs/project/project-files.ts';
import { type PageEntry, readSiteModel, type SiteModel } from '#shared/docs/project/site-model.ts';
import { remoteManifestPath } from '#shared/docs/reference/remote-files.ts';
import type { MadeFile } from '#shared/docs/reference/site-reference.ts';
import type { ChildPool } from '#shared/docs/sandbox/child-pool.ts';
import { ArchiveRefused } from '#shared/export/bundle/archive-names.ts';
import { ApiError } from '#shared/http/errors.ts';
import type { BusParts } from '#shared/messaging/bus.ts';
import { handleCommand } from '#shared/messaging/log/handle-command.ts';
import { contentLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { jsonIn, sha256Of } from '#shared/runtime/canonical-json.ts';
import type { Clock, RandomDigits } from '#shared/runtime/time-and-ids.ts';
import { type ObjectStore, storeWithin, unlessDamaged } from '#shared/storage/object-store.ts';
import { BrokenObject } from '#shared/storage/stored-json.ts';
import { heldFiles, type HeldFiles, missingOf, recordArrived, recordFiles, withoutGone } from './held-files.ts';
import { type ArrivingProject, bytesOf, checkSizes, contentsMissing } from './project-bytes.ts';
import { type ReceivedProject, type StoredFiles, storeFiles, storeMadeFiles, type Uploads } from './project-files.ts';
import type { ReceivedFile } from './unpacked-files.ts';

export type PublisherContext = {
  bus: Pick<BusParts, 'content'>;
  objectStore: ObjectStore;
  /** Children that read projects. */
  pool: ChildPool;
  clock: Clock;
  random: RandomDigits;
  uploads: Uploads;
  /** Version of the code that reads projects. */
  readerVersion: string;
};

/** A known version was ended while it was published again, so its objects may be gone. */
class ContentEnded extends Error {
  override name = 'ContentEnded';
}

/** `sends`: the caller sends all files of the project, or a list of them and the missing ones. */
export type PublishOptions = {
  label?: string | undefined;
  labelOnly?: boolean;
  sends: 'all files' | 'changed files';
  source?: PublicationSource | undefined;
};

/** Takes a packed docs project and makes it the latest content of the caller's domain, or with `labelOnly` the content of the label alone. Throws the `ApiError` that the caller sees. */
export async function publishProject(
  context: PublisherContext,
  caller: Caller,
  packed: Readable,
  { label, labelOnly = false, sends, source }: PublishOptions,
  signal: AbortSignal,
): Promise<{ answer: PublishedContent; revision: number }> {
  const { organization, domain } = caller;
  const received = await receive(context, caller, packed, signal);
  try {
    if (sends === 'changed files') requireList(received);
    else if (received.listed !== undefined) {
      const sentence = `The archive begins with a list of files (${fileListName}), so it may have only some of them. Send it with PATCH instead of PUT, or without the list.`;
      throw new ApiError('invalid_project', sentence);
    }
    const files = received.listed ?? received.files;
    const contentVersion = contentVersionOf(files, context.readerVersion);
    const content = { organization, domain, contentVersion };
    const state = await contentState(context, caller);
    const stored = isKnown(state, contentVersion) ? await knownModel(context, content, signal) : undefined;
    const { held, isWhole } = await heldOrGone(context, caller, state, { contentVersion, model: stored, signal });
    const append = (isStored: boolean, pageCount: number) =>
      appendContent(context, caller, (newest) => {
        if (!isStored && !isKnown(newest, contentVersion)) throw new ContentEnded();
        if (isStored && received.listed !== undefined && !isStillKept(held, newest)) throw contentsMissing();
        return publishContent(newest, {
          ...content,
          ...(label === undefined ? {} : { label }),
          ...(labelOnly ? { labelOnly } : {}),
          ...(source === undefined ? {} : { source }),
          pageCount,
          fileCount: files.length,
          sizeBytes: files.reduce((sum, file) => sum + file.sizeBytes, 0),
        });
      });
    const store = () => storeProject(context, content, { files, received, held }, signal);
    const known = isWhole ? stored : undefined;
    if (known !== undefined) {
      const sizes = namedBy(known);
      checkSizes(files, (sha256) => sizes.get(sha256));
    }
    const model = known ?? (await store());
    const { revision } = await append(known === undefined, model.pages.length).catch(async (error: unknown) => {
      if (!(error instanceof ContentEnded)) throw error;
      await store();
      return append(true, model.pages.length);
    });
    const diagnostics = [...model.diagnostics, ...claimedGroupsWarning(model.pages, caller.groupTrust)];
    const version = label === undefined ? {} : { version: label };
    return { answer: { contentVersion, ...version, pages: model.pages.length, diagnostics }, revision };
  } catch (error) {
    throw refusal(error);
  } finally {
    await received.remove();
  }
}

/** Tells which files of a list have to be sent to be published; none if their content version is known. */
export async function missingContents(
  context: PublisherContext,
  caller: Caller,
  packed: Readable,
  signal: AbortSignal,
): Promise<MissingContents> {
  const received = await receive(context, caller, packed, signal);
  await received.remove();
  const listed = requireList(received);
  const state = await contentState(context, caller);
  const contentVersion = contentVersionOf(listed, context.readerVersion);
  const { held, isWhole } = await heldOrGone(context, caller, state, { contentVersion, signal });
  if (isKnown(state, contentVersion) && isWhole) return { missing: [] };
  return { missing: missingOf(listed, held) };
}

/**
 * The files that the caller need not send. Publishing the latest content again repairs it, so its files are then looked up in the store. `isWhole` is
 * false if some of them, or of those that `model` names, are gone.
 */
async function heldOrGone(
  { objectStore, clock }: PublisherContext,
  { organization, domain }: Caller,
  state: ContentState | undefined,
  { contentVersion, model, signal }: { contentVersion: string; model?: SiteModel | undefined; signal: AbortSignal },
): Promise<{ held: HeldFiles; isWhole: boolean }> {
  const held = await heldFiles({ objectStore, clock }, { organization, domain }, state, { signal });
  if (held.contentVersion !== contentVersion) return { held, isWhole: true };
  const named = model === undefined ? [] : namedBy(model).keys();
  const found = await withoutGone(objectStore, organization, held, named, { signal });
  return { held: found.held, isWhole: found.gone.size === 0 };
}

function requireList({ listed }: ReceivedProject): readonly ListedFile[] {
  if (listed !== undefined) return listed;
  const sentence = `The archive does not begin with a list of files. Name its first entry ${fileListName}, with a line "<sha256> <size in bytes> <path>" for each file.`;
  throw new ApiError('invalid_project', sentence);
}

/** Time limit for storing the files that arrived of an upload that was cut. */
const keepWithinMs = 60_000;
const recordWithinMs = 10_000;

/** Receives an archive. If one that begins with a list is cut, the files that arrived are stored, and need not be sent again. */
async function receive(
  { uploads, objectStore, clock }: PublisherContext,
  { organization, domain }: Caller,
  packed: Readable,
  signal: AbortSignal,
): Promise<ReceivedProject> {
  const keepArrived = async (arrived: StoredFiles): Promise<void> => {
    if (arrived.files.length === 0) return;
    // Storing has a deadline of its own, because the signal of the upload has aborted.
    const within = storeWithin(keepWithinMs);
    const stored: ReceivedFile[] = [];
    const storing = storeFiles(objectStore, clock, organization, arrived, within, (file) => void stored.push(file));
    // A stored file is recorded even if the time was too short for the others.
    await storing.catch(() => undefined);
    if (stored.length === 0) return;
    await recordArrived(objectStore, { organization, domain }, stored, { signal: storeWithin(recordWithinMs) });
  };
  return await uploads.receive(organization, packed, signal, keepArrived).catch((error: unknown) => {
    throw refusal(error);
  });
}

/** True while the content version whose files a publication relies on is in the log: then none of its files can have been removed. */
const isStillKept = ({ contentVersion }: HeldFiles, state: ContentState | undefined): boolean =>
  contentVersion === undefined || isKnown(state, contentVersion);

/** Appends the decision of `decide` for the caller's domain to its content log, and returns the revision that contains it. */
export async function appendContent(
  { bus, clock, random }: Pick<PublisherContext, 'bus' | 'clock' | 'random'>,
  { organization, domain, actor, requestId, addressHash, traceparent }: Caller,
  decide: (state: ContentState | undefined) => ContentEvent[],
): Promise<{ revision: number }> {
  const { stored } = await handleCommand({ log: bus.content, clock, random }, contentAggregate, {
    subject: contentLogSubject(organization, domain),
    decide,
    origin: {
      source: 'publisher',
      actor,
      causationId: requestId,
      correlationId: requestId,
      ...(addressHash === undefined ? {} : { request: { id: requestId, addressHash } }),
      traceparent,
    },
  });
  return { revision: stored?.commit.revision ?? 0 };
}

async function contentState(
  { bus }: Pick<PublisherContext, 'bus'>,
  { organization, domain }: Caller,
): Promise<ContentState | undefined> {
  const last = await bus.content.last(contentLogSubject(organization, domain), { fromLeader: true });
  return last?.commit.data.state;
}

/** The site model of content that was published before, which makes it unnecessary to read or store anything. */
async function knownModel(
  { objectStore }: PublisherContext,
  content: ContentId,
  signal: AbortSignal,
): Promise<SiteModel | undefined> {
  return readSiteModel(objectStore, content, { signal }).catch((error: unknown) => {
    if (error instanceof BrokenObject) return undefined;
    throw error;
  });
}

/**
 * Reads the project in a child, and stores its files before its site model, so that a site model implies all of its files. It stores the files that
 * the model names and those that were read.
 */
async function storeProject(
  context: PublisherContext,
  content: ContentId,
  project: ArrivingProject,
  signal: AbortSignal,
): Promise<SiteModel> {
  const { objectStore, pool, clock, readerVersion } = context;
  const { organization, domain, contentVersion } = content;
  const { files, received, held } = project;
  const bytes = bytesOf(objectStore, organization, project, signal);
  const revised = await reviseProject(context, content, project, bytes, signal);
  if (revised !== undefined) return revised;
  const fileOf = new Map(files.map((file) => [file.path, file]));
  const made: MadeFile[] = [];
  const read = new Set<string>();
  const known =
    held.contentVersion === undefined
      ? undefined
      : await unlessDamaged(
          objectStore.get(readingsKey({ organization, domain, contentVersion: held.contentVersion }), { signal }),
        );
  const analysis = await analyzeProject(
    pool,
    {
      files: files.map(({ path, sha256, sizeBytes }) => ({ path, sha256, sizeBytes })),
      read: async (path, maxBytes) => {
        const file = fileOf.get(path);
        if (file === undefined) return new Uint8Array();
        read.add(file.sha256);
        return bytes.read(file, maxBytes);
      },
    },
    { organization, signal, keep: (file) => void made.push(file), readings: { known, readerVersion } },
  ).catch((error: unknown) => {
    bytes.check();
    throw error;
  });
  const { formatVersion, ...rest } = analysis.project;
  const model: SiteModel = { formatVersion, contentVersion, ...rest };
  const named = namedBy(model);
  // The model does not name files such as docs.json, but the next publication reads them again. Pages that are only links are read again when the code
  // that reads projects changes.
  const isNeeded = ({ path, sha256 }: ListedFile): boolean =>
    named.has(sha256) || read.has(sha256) || (isSource(path) && held.ofContent.has(sha256));
  const needed = files.filter(isNeeded);
  const toStore = bytes.toStore(needed);
  bytes.check();
  await Promise.all([
    storeFiles(objectStore, clock, organization, { ...received, files: toStore }, signal),
    storeMadeFiles(objectStore, clock, organization, made, signal),
    recordFiles(objectStore, content, files, isNeeded, { signal }),
    ...(analysis.readings === undefined ? [] : [objectStore.put(readingsKey(content), analysis.readings, { signal })]),
  ]);
  await storeModel(objectStore, content, model, signal);
  return model;
}

const storeModel = (objectStore: ObjectStore, content: ContentId, model: SiteModel, signal: AbortSignal) =>
  objectStore.put(siteModelKey(content), Buffer.from(JSON.stringify(model)), {
    contentType: 'application/json',
    signal,
  });

/**
 * Makes and stores a site model from the model of the last content version if only the text of pages changed since, and stores the files of these pages.
 * Undefined if more changed, or if something of the last version cannot be read.
 */
async function reviseProject(
  { objectStore, pool, clock, readerVersion }: PublisherContext,
  content: ContentId,
  { files, received, held }: ArrivingProject,
  bytes: ReturnType<typeof bytesOf>,
  signal: AbortSignal,
): Promise<SiteModel | undefined> {
  // The decision checks for uploads with a list alone that the files of the last version were kept meanwhile.
  if (received.listed === undefined || held.contentVersion === undefined) return undefined;
  const last = { ...content, contentVersion: held.contentVersion };
  const [before, known] = await Promise.all([
    lastModel(objectStore, last, signal),
    unlessDamaged(objectStore.get(readingsKey(last), { signal })),
  ]);
  const changed = before && changedPages(before, held.files, files);
  if (before === undefined || changed === undefined || known === undefined) return undefined;
  const { organization } = content;
  const fileOf = new Map(changed.map((file) => [file.path, file]));
  const reread = await rereadInChild(
    pool,
    { changed, variables: before.settings.variables, known, readerVersion },
    async (path, maxBytes) => {
      const file = fileOf.get(path);
      return file === undefined ? new Uint8Array() : bytes.read(file, maxBytes);
    },
    { organization, signal },
  );
  bytes.check();
  const revised = reread && revisedModel(before, changed, reread);
  if (reread === undefined || revised === undefined) return undefined;
  const model = { ...revised, contentVersion: content.contentVersion };
  const isNeeded = ({ path }: ListedFile): boolean => fileOf.has(path) || held.files.get(path)?.isStored === true;
  const toStore = bytes.toStore(changed);
  bytes.check();
  await Promise.all([
    storeFiles(objectStore, clock, organization, { ...received, files: toStore }, signal),
    recordFiles(objectStore, content, files, isNeeded, { signal }),
    objectStore.put(readingsKey(content), reread.readings, { signal }),
  ]);
  await storeModel(objectStore, content, model, signal);
  return model;
}

/**
 * The stored model of a content version that this program made, which names its version. Its schema is not checked, because that takes longer than all
 * other work on a changed page; undefined if it cannot be parsed.
 */
async function lastModel(
  objectStore: ObjectStore,
  content: ContentId,
  signal: AbortSignal,
): Promise<SiteModel | undefined> {
  const stored = await unlessDamaged(objectStore.get(siteModelKey(content), { signal }));
  const model = stored && (jsonIn(Buffer.from(stored).toString()) as SiteModel | undefined);
  return model?.contentVersion === content.contentVersion ? model : undefined;
}

/** Sizes of all files that a model names, by their hashes. */
function namedBy({ pages, snippets, specs, operations = [], assets, styles, scripts }: SiteModel): Map<string, number> {
  const all = [pages, snippets, specs, operations, assets, styles, scripts];
  return new Map(all.flatMap((entries) => entries.map(({ sha256, sizeBytes }) => [sha256, sizeBytes])));
}

function refusal(error: unknown): unknown {
  if (error instanceof ArchiveRefused)
    return new ApiError('invalid_project', asSentence(error.message), { cause: error });
  if (error instanceof InvalidProject) return new ApiError('invalid_project', error.message, { cause: error });
  return error;
}

const asSentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;

const hexDigits = 32;

/**
 * Names a project's content: the same files, read by the same code, have the same name, whatever archive they came in, and whenever the API descriptions
 * among them were fetched. Pure.
 */
function contentVersionOf(files: readonly { path: string; sha256: string }[], readerVersion: string): string {
  const counted = files.filter(({ path }) => path !== remoteManifestPath);
  const lines = counted.map(({ path, sha256 }) => `${path}\0${sha256}\n`).sort();
  return `cv_${sha256Of(`${readerVersion}\n${lines.join('')}`).slice(0, hexDigits)}`;
}

/** Warns that restricted pages are visible to everybody who names their groups, on a domain that trusts the claims of callers. Pure. */
function claimedGroupsWarning(
  pages: readonly Pick<PageEntry, 'file' | 'groups'>[],
  groupTrust: 'claimed' | 'signed',
): Diagnostic[] {
  const restricted = pages.filter(({ groups }) => groups.length > 0);
  const first = restricted[0];
  if (groupTrust === 'signed' || first === undefined) return [];
  const count = restricted.length === 1 ? 'This page is' : `This page and ${restricted.length - 1} more are`;
  return [
    {
      severity: 'warning',
      code: 'claimed-groups',
      message: `${count} restricted to groups, but this domain trusts the groups that a caller of the assistant names. Ask the operator to set the domain's "groups" to "signed" to protect them.`,
      file: first.file,
    },
  ];
}
