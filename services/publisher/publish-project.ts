import type { Readable } from 'node:stream';
import { contentAggregate, type ContentEvent, type ContentState } from '#shared/aggregates/content/content.ts';
import { isKnown, publishContent } from '#shared/aggregates/content/decide.ts';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import type { PublishedContent } from '#shared/interfaces/http/content.ts';
import type { Caller } from '#shared/interfaces/internal/caller.ts';
import { hashesIn, siteModelKey } from '#shared/contracts/stored-objects.ts';
import { analyzeProject } from '#shared/docs/project/analyze-project.ts';
import { InvalidProject } from '#shared/docs/project/diagnostics.ts';
import { type PageEntry, readSiteModel, type SiteModel, siteModelSchema } from '#shared/docs/project/site-model.ts';
import { remoteManifestPath } from '#shared/docs/reference/remote-files.ts';
import type { MadeFile } from '#shared/docs/reference/site-reference.ts';
import type { ChildPool } from '#shared/docs/sandbox/child-pool.ts';
import { ArchiveRefused } from '#shared/export/bundle/archive-names.ts';
import { ApiError } from '#shared/http/errors.ts';
import type { BusParts } from '#shared/messaging/bus.ts';
import { handleCommand } from '#shared/messaging/log/handle-command.ts';
import { contentLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import type { Clock, RandomDigits } from '#shared/runtime/time-and-ids.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { BrokenObject } from '#shared/storage/stored-json.ts';
import { type ReceivedProject, storeFiles, storeMadeFiles, type Uploads } from './project-files.ts';

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

/** Takes a packed docs project and makes it the latest content of the caller's domain. Throws the `ApiError` that the caller sees. */
export async function publishProject(
  context: PublisherContext,
  caller: Caller,
  packed: Readable,
  label: string | undefined,
  signal: AbortSignal,
): Promise<{ answer: PublishedContent; revision: number }> {
  const received = await context.uploads.receive(caller.organization, packed, signal).catch((error: unknown) => {
    throw refusal(error);
  });
  try {
    const { files } = received;
    const contentVersion = contentVersionOf(files, context.readerVersion);
    const { organization, domain } = caller;
    const append = (isStored: boolean, pageCount: number) =>
      appendContent(context, caller, (state) => {
        if (!isStored && !isKnown(state, contentVersion)) throw new ContentEnded();
        return publishContent(state, {
          organization,
          domain,
          contentVersion,
          ...(label === undefined ? {} : { label }),
          pageCount,
          fileCount: files.length,
          sizeBytes: files.reduce((sum, file) => sum + file.sizeBytes, 0),
        });
      });
    const store = () => storeProject(context, caller, received, contentVersion, signal);
    const known = await knownModel(context, caller, contentVersion, signal);
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

/** The site model of content that was published before, which makes it unnecessary to read or store anything. */
async function knownModel(
  { bus, objectStore }: PublisherContext,
  { organization, domain }: Caller,
  contentVersion: string,
  signal: AbortSignal,
): Promise<SiteModel | undefined> {
  const last = await bus.content.last(contentLogSubject(organization, domain), { fromLeader: true });
  if (!isKnown(last?.commit.data.state, contentVersion)) return undefined;
  return readSiteModel(objectStore, { organization, domain, contentVersion }, { signal }).catch((error: unknown) => {
    if (error instanceof BrokenObject) return undefined;
    throw error;
  });
}

/**
 * Reads the project in a child, and stores its files before its site model, so that a site model implies all of its files. Files that the model does
 * not name are not stored.
 */
async function storeProject(
  { objectStore, pool, clock }: PublisherContext,
  { organization, domain }: Caller,
  received: ReceivedProject,
  contentVersion: string,
  signal: AbortSignal,
): Promise<SiteModel> {
  const { files } = received;
  const fileOf = new Map(files.map((file) => [file.path, file]));
  const made: MadeFile[] = [];
  const project = await analyzeProject(
    pool,
    {
      files: files.map(({ path, sha256, sizeBytes }) => ({ path, sha256, sizeBytes })),
      read: async (path, maxBytes) => {
        const file = fileOf.get(path);
        return file === undefined ? new Uint8Array() : received.read(file, maxBytes);
      },
    },
    { organization, signal, keep: (file) => void made.push(file) },
  );
  const model = siteModelSchema.parse({ ...project, contentVersion });
  const modelText = JSON.stringify(model);
  const named = new Set(hashesIn(modelText));
  const needed = { ...received, files: files.filter(({ sha256 }) => named.has(sha256)) };
  await storeFiles(objectStore, clock, organization, needed, signal);
  await storeMadeFiles(objectStore, clock, organization, made, signal);
  await objectStore.put(siteModelKey({ organization, domain, contentVersion }), Buffer.from(modelText), {
    contentType: 'application/json',
    signal,
  });
  return model;
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
