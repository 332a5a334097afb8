import { mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Bus } from '#shared/bus/bus.ts';
import { ArchiveRefused } from '#shared/bundle/archive-refused.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { siteModelKey } from '#shared/contracts/content-keys.ts';
import type { PublishedContent } from '#shared/contracts/http/published-content.ts';
import { analyzeProject } from '#shared/docs-project/analyze-project.ts';
import { InvalidProject } from '#shared/docs-project/invalid-project.ts';
import { type SiteModel, siteModelSchema } from '#shared/docs-project/site-model.ts';
import { ApiError } from '#shared/errors/api-error.ts';
import type { Caller } from '#shared/internal-http/caller.ts';
import type { ObjectStore } from '#shared/object-store/object-store.ts';
import type { ChildPool } from '#shared/sandbox/child-pool.ts';
import { contentLogSubject } from '#shared/subjects/subject-names.ts';
import { appendContent } from './append-content.ts';
import { claimedGroupsWarning } from './claimed-groups-warning.ts';
import { contentVersionOf } from './content-version-of.ts';
import { isKnown, publishContent } from './decide-content.ts';
import { type ReceivedFile, receiveArchive } from './receive-archive.ts';
import { storeFiles } from './store-files.ts';

export type PublisherParts = {
  bus: Pick<Bus, 'content'>;
  objectStore: ObjectStore;
  /** Children that read projects. */
  pool: ChildPool;
  clock: Clock;
  /** Where uploads are unpacked, each in a folder that goes away with it. */
  uploadFolder: string;
};

/** The version was known, and was ended before it was published again: its objects may be gone by now. */
class ContentEnded extends Error {
  override name = 'ContentEnded';
}

export type Publication = { answer: PublishedContent; revision: number };

/** Takes a packed docs project and makes it the latest content of the caller's domain. Throws the `ApiError` that its sender sees. */
export async function publishProject(
  parts: PublisherParts,
  caller: Caller,
  packed: Readable,
  label: string | undefined,
  signal: AbortSignal,
): Promise<Publication> {
  const folder = await mkdtemp(join(parts.uploadFolder, 'project-'));
  try {
    const files = await receiveArchive(packed, folder);
    const contentVersion = contentVersionOf(files);
    const append = (isStored: boolean, pageCount: number) =>
      appendContent(parts, caller, (state) => {
        if (!isStored && !isKnown(state, contentVersion)) throw new ContentEnded();
        return publishContent(state, {
          organization: caller.organization,
          domain: caller.domain,
          contentVersion,
          ...(label === undefined ? {} : { label }),
          pageCount,
          fileCount: files.length,
          sizeBytes: files.reduce((sum, file) => sum + file.sizeBytes, 0),
        });
      });
    const store = () => storeProject(parts, caller, files, contentVersion, signal);
    const known = await knownModel(parts, caller, contentVersion, signal);
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
    await rm(folder, { recursive: true, force: true });
  }
}

/** The site model of content that was published before: then nothing has to be read or stored again. */
async function knownModel(
  { bus, objectStore }: PublisherParts,
  { organization, domain }: Caller,
  contentVersion: string,
  signal: AbortSignal,
): Promise<SiteModel | undefined> {
  const last = await bus.content.last(contentLogSubject(organization, domain), { fromLeader: true });
  if (!isKnown(last?.commit.data.state, contentVersion)) return undefined;
  const bytes = await objectStore.get(siteModelKey(organization, domain, contentVersion), { signal });
  const model = bytes && siteModelSchema.safeParse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  return model?.success ? model.data : undefined;
}

/** Reads the project in a child, stores its files, then what its pages share: a site model that exists has all of its files. */
async function storeProject(
  { objectStore, pool, clock }: PublisherParts,
  { organization, domain }: Caller,
  files: readonly ReceivedFile[],
  contentVersion: string,
  signal: AbortSignal,
): Promise<SiteModel> {
  const fileOf = new Map(files.map(({ path, file }) => [path, file]));
  const project = await analyzeProject(
    pool,
    {
      files: files.map(({ path, sha256, sizeBytes }) => ({ path, sha256, sizeBytes })),
      read: (path, maxBytes) => readStart(fileOf.get(path) ?? '', maxBytes),
    },
    { organization, signal },
  );
  const model = siteModelSchema.parse({ ...project, contentVersion });
  await storeFiles(objectStore, clock, organization, files, signal);
  await objectStore.put(siteModelKey(organization, domain, contentVersion), Buffer.from(JSON.stringify(model)), {
    contentType: 'application/json',
    signal,
  });
  return model;
}

async function readStart(file: string, maxBytes: number): Promise<Uint8Array> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const { buffer, bytesRead } = await handle.read(
      Buffer.alloc(Math.min(size, maxBytes)),
      0,
      Math.min(size, maxBytes),
      0,
    );
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

function refusal(error: unknown): unknown {
  if (error instanceof ArchiveRefused)
    return new ApiError('invalid_project', asSentence(error.message), { cause: error });
  if (error instanceof InvalidProject) return new ApiError('invalid_project', error.message, { cause: error });
  return error;
}

const asSentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
