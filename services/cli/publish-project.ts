import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import type { PublicationSource } from '#shared/contracts/publication-source.ts';
import type { FieldProblem } from '#shared/http/errors.ts';
import type { ContentList, MissingContents, PublishedContent } from '#shared/interfaces/http/content.ts';
import { fileListName, fileListText, type ListedFile } from '#shared/interfaces/http/listed-files.ts';
import { isReplaced } from '#shared/docs/reference/remote-files.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { type ApiClient, ApiFailure, retryWhenAsked, retryWhileAway } from './api-client.ts';
import type { LastPublication } from './last-publication.ts';
import { type UnreadFolder, unreadFolder } from './unread-folder.ts';

export type Publication = {
  domain: string;
  folder: string;
  label?: string | undefined;
  /** The place in a repository that the folder is from. */
  source?: PublicationSource | undefined;
  /** True: the content only gets the label, and another one stays the latest. */
  preview?: boolean;
  /** The folder if it is open already, which saves reading its files again. */
  opened?: UnreadFolder;
  /** Files that are not in the folder. */
  added?: ReadonlyMap<string, Uint8Array>;
  /** The publication before, whose files need not be asked for. */
  last?: LastPublication;
};

/** Limit of the files that are sent without a question, which may be the wrong ones. */
const mostGuessedBytes = 4 * 1024 * 1024;

/** Limit of attempts with a list. A broken connection, a file that changes, or a file that the server lacks after all costs one attempt. */
const mostAttempts = 3;
const pauseMs = 1_000;

/**
 * Publishes a docs project's folder, and resolves once its content version is in the log. Sends the list of its files first, and then the files that
 * the server lacks. The list and the files that have changed since the publication in `last` are sent together, because the server most probably lacks
 * just these; it is asked if it lacks more. After a broken connection this sends the list again, and then only files that have not arrived. An older
 * server gets the whole project. Throws `NotAProject` when there is no `docs.json` or `mint.json`.
 */
export async function publishProject(client: ApiClient, publication: Publication): Promise<PublishedContent> {
  try {
    return await publishOnce(client, publication);
  } catch (error) {
    // A server of an earlier version knows no source.
    const isSource = ({ path }: FieldProblem): boolean => /\b(commit|branch|pullRequest)$/.test(path);
    if (publication.source === undefined || !(error instanceof ApiFailure) || !error.fields.some(isSource)) throw error;
    const { source: _source, ...rest } = publication;
    return await publishOnce(client, rest);
  }
}

const sourceQuery = ({ commit, branch, pullRequest }: PublicationSource = {}): Record<string, string | undefined> => ({
  commit,
  branch,
  pullRequest: pullRequest?.toString(),
});

async function publishOnce(client: ApiClient, publication: Publication): Promise<PublishedContent> {
  let { opened } = publication;
  /** Hashes of the files that were sent when the server answered that files were still missing. */
  let tooFew: ReadonlySet<string> | undefined;
  let before = await publication.last?.hashes();
  for (let attempt = 1; ; attempt += 1) {
    const folder = opened ?? (await unreadFolder(publication.folder));
    opened = undefined;
    const project = withAdded(folder, publication.added ?? new Map());
    await folder.remember();
    const { listed } = project;
    const accepted = async (sending: () => Promise<PublishedContent>): Promise<PublishedContent> => {
      const answer = await retryWhenAsked(sending);
      if (publication.preview !== true) await publication.last?.remember(listed);
      return answer;
    };
    const guessed = before && changedSince(before, listed);
    before = undefined;
    const missing = guessed ?? (await retryWhenAsked(() => missingIn(client, publication.domain, listed)));
    const sendAll = () => accepted(() => send(client, publication, 'PUT', packed(project, listed)));
    if (missing === undefined) return await sendAll();
    // The server asks for no other files than before, so it has lost one that it counts as present.
    if (tooFew !== undefined && missing.every((sha256) => tooFew?.has(sha256))) return await sendAll();
    tooFew = undefined;
    const wanted = new Set(missing);
    // Files with the same bytes are sent once.
    const lacking = listed.filter(({ sha256 }) => wanted.delete(sha256));
    let some: Packed | undefined;
    try {
      return await accepted(() => {
        some = packed(project, lacking, listed);
        return send(client, publication, 'PATCH', some);
      });
    } catch (error) {
      const changed = some?.problem();
      if (isUnknownThere(error)) return await sendAll();
      const isCut = error instanceof ApiFailure && ['unreachable', 'request_timeout'].includes(error.code);
      const isMissing = error instanceof ApiFailure && error.code === 'contents_missing';
      if (guessed !== undefined && isMissing) {
        [opened, attempt] = [folder, attempt - 1];
        continue;
      }
      if (attempt === mostAttempts && isMissing) return await sendAll();
      if (attempt === mostAttempts || !(isCut || isMissing || changed instanceof FileChanged)) throw changed ?? error;
      if (isMissing) tooFew = new Set(missing);
      if (isCut) await delay(pauseMs);
    }
  }
}

/** Hashes of the files that were not there before; undefined if they are too large to be sent without a question. */
function changedSince(before: ReadonlySet<string>, listed: readonly ListedFile[]): string[] | undefined {
  const changed = listed.filter(({ sha256 }) => !before.has(sha256));
  const bytes = changed.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  return bytes > mostGuessedBytes ? undefined : changed.map(({ sha256 }) => sha256);
}

type Project = { listed: readonly ListedFile[]; bytesOf: (path: string) => Uint8Array };

function withAdded(folder: UnreadFolder, added: ReadonlyMap<string, Uint8Array>): Project {
  const own = folder.files.filter(({ path }) => !isReplaced(path, added));
  const listed = [
    ...own.map(({ path }) => folder.entryOf(path)),
    ...Array.from(added, ([path, bytes]) => ({ path, sha256: sha256Of(bytes), sizeBytes: bytes.length })),
  ].sort((a, b) => (a.path < b.path ? -1 : 1));
  return { listed, bytesOf: (path) => added.get(path) ?? folder.bytesOf(path) };
}

const contentPath = (domain: string): string => `/v1/domains/${encodeURIComponent(domain)}/content`;
const asArchive = { 'content-type': 'application/gzip' };

/** Hashes of the files that the server lacks; undefined for a server that has no lists. */
async function missingIn(
  client: ApiClient,
  domain: string,
  listed: readonly ListedFile[],
): Promise<readonly string[] | undefined> {
  const call = {
    method: 'POST',
    headers: asArchive,
    body: packed({ listed, bytesOf: noBytes }, [], listed).body,
  } as const;
  return await client.json<MissingContents>(`${contentPath(domain)}/missing`, call).then(
    ({ missing }) => missing,
    (error: unknown) => {
      if (isUnknownThere(error)) return undefined;
      throw error;
    },
  );
}

/**
 * True for the answers of a gateway that has no lists. A domain that does not exist has the same status; then the upload of the whole project gets
 * the error about the domain. False for server errors: the whole project, which may be large, would fail as well.
 */
const isUnknownThere = (error: unknown): boolean => error instanceof ApiFailure && [404, 405].includes(error.status);

const noBytes = (): never => {
  throw new Error('a list has no files');
};

const send = (
  client: ApiClient,
  { domain, label, preview = false, source }: Publication,
  method: 'PUT' | 'PATCH',
  { body }: Packed,
): Promise<PublishedContent> =>
  client.json<PublishedContent>(contentPath(domain), {
    method,
    query: { version: label, ...(preview ? { preview: '1' } : {}), ...sourceQuery(source) },
    headers: asArchive,
    body,
  });

/** A file was changed while it was published. The message names it. */
class FileChanged extends Error {
  override name = 'FileChanged';
}

type Packed = {
  body: ReadableStream<Uint8Array>;
  /** The reason why packing failed, if it did: the request only tells that its body ended. */
  problem: () => Error | undefined;
};

/** Packs files of a project in their order, after the list if there is one. */
function packed({ bytesOf }: Project, files: readonly ListedFile[], list?: readonly ListedFile[]): Packed {
  let problem: Error | undefined;
  const archive = pack();
  const text = list && Buffer.from(fileListText(list));
  const size = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  // A list consists mostly of hashes, which hardly compress.
  const gzip = createGzip({ level: size < (text?.length ?? 0) ? 1 : 6 });
  const writeAll = async (): Promise<void> => {
    if (text !== undefined) await write(archive, fileListName, text);
    for (const { path, sha256 } of files) {
      const bytes = bytesOf(path);
      if (list !== undefined && sha256Of(bytes) !== sha256) {
        throw new FileChanged(
          `${path} was changed while it was published. Publish again when nothing changes the project.`,
        );
      }
      await write(archive, path, Buffer.from(bytes));
    }
    archive.finalize();
  };
  writeAll().catch((error: unknown) => {
    problem = error instanceof Error ? error : new Error(String(error));
    archive.destroy(problem);
  });
  archive.on('error', (error: Error) => gzip.destroy(error));
  return { body: Readable.toWeb(archive.pipe(gzip)) as ReadableStream<Uint8Array>, problem: () => problem };
}

const write = (archive: ReturnType<typeof pack>, name: string, body: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    archive.entry({ name, size: body.length, mode: 0o644, mtime: new Date(0) }, body, (error) =>
      error ? reject(error) : resolve(),
    );
  });

/** Time limit for indexing, which takes minutes for a large site on a busy machine. */
const deadlineMs = 300_000;

/** Resolves once the assistant searches this content version of the domain. */
export async function whenSearched(client: ApiClient, domain: string, contentVersion: string): Promise<void> {
  const startedAt = performance.now();
  for (let passedMs = 0; passedMs < deadlineMs; passedMs = performance.now() - startedAt) {
    const contents = await retryWhileAway(() =>
      client.json<ContentList>(`/v1/domains/${encodeURIComponent(domain)}/content`),
    );
    if (contents.searched === contentVersion) return;
    // The interval grows with the elapsed time.
    await delay(Math.min(500, Math.max(50, passedMs / 10)));
  }
  throw new Error(`${contentVersion} was not indexed within ${deadlineMs / 1000} s; the indexer's log says why.`);
}

/** Resolves once the assistant searches the newest publication; at once if the key must not read the contents of the domain. */
export async function whenLatestSearched(client: ApiClient, domain: string): Promise<void> {
  const path = `/v1/domains/${encodeURIComponent(domain)}/content`;
  const contents = await client.json<ContentList>(path).catch((error: unknown) => {
    if (error instanceof ApiFailure) return undefined;
    throw error;
  });
  if (contents?.latest !== undefined && contents.latest !== contents.searched)
    await whenSearched(client, domain, contents.latest);
}
