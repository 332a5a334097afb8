import { join } from 'node:path';
import { cacheFolder } from '#infra/setup/server-locations.mjs';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { quoted } from '#shared/docs/project/diagnostics.ts';
import { facesIn } from '#shared/docs/project/google-fonts.ts';
import type { NamedFiles } from '#shared/docs/project/project-files.ts';
import type { Finding, FindingCode } from '#shared/docs/findings/finding-texts.ts';
import {
  lockFile,
  remoteAddress,
  remoteFile,
  type RemoteFormat,
  remoteManifestPath,
  stemOf,
} from '#shared/docs/reference/remote-files.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { counted, formatNumber } from '#shared/runtime/figures.ts';
import { inTurns } from '../in-turns.ts';
import { BadLock, type Lock, type LockedPart, readLock, writeLock } from './lock-file.ts';
import { namedParts, type NamedPart } from './named-parts.ts';
import { partCache } from './part-cache.ts';

const mostParts = 2_000;
const mostBytes = 256 * 1024 * 1024;
const turns = { atOnce: 4, atOnceByHost: 2, pauseMs: 50 };

export type RemoteOptions = {
  /** The folder with the lock. */
  folder: string;
  /** Also allows addresses of this machine and of private networks. */
  allowPrivate: boolean;
  /** If false, nothing is fetched, and the lock stays as it is. */
  fetch?: boolean;
  /** Fetches everything again, and takes over the changes. */
  refresh?: boolean;
  /** True if pictures are fetched, too; without it the lock decides. */
  pictures?: boolean | undefined;
  /** True in CI, which only reads the lock, unless it refreshes it. */
  isCi?: boolean;
  /** False if the project has further files, whose addresses stay in the lock. */
  isWhole?: boolean;
  /** Address of the service with the interface of Google Fonts. */
  fontService?: string | undefined;
  /** Folder of the fetched bytes. */
  cache?: string;
  /** Called before the first request, with the files that are in the cache and findings about the others. */
  onBegin?: (parts: RemoteParts) => void;
};

/**
 * Files for the archive of a project, and diagnostics for its author. `withoutSaid` removes findings of the project's reader that repeat these
 * diagnostics.
 */
export type RemoteParts = {
  files: Map<string, Uint8Array>;
  diagnostics: Diagnostic[];
  withoutSaid: (found: readonly Diagnostic[]) => Diagnostic[];
  /** All addresses that the project names, in the form in which they are requested. */
  addresses: ReadonlySet<string>;
  /** True if pictures are among them. */
  pictures: boolean;
};

export const noParts: RemoteParts = {
  ...{ files: new Map(), diagnostics: [], addresses: new Set(), pictures: false },
  withoutSaid: (found) => [...found],
};

const defaultCache = (): string => join(cacheFolder(), 'remote');

type Obtained = { part: NamedPart; bytes: Uint8Array; locked: LockedPart; extension: RemoteFormat };

/** Extensions of copies by media type. */
const extensions: ReadonlyMap<string, RemoteFormat> = new Map<string, RemoteFormat>([
  ['application/json', 'json'],
  ['application/yaml', 'yaml'],
  ['text/css', 'css'],
  ...(['woff2', 'woff', 'ttf', 'otf'] as const).map((each) => [`font/${each}`, each] as const),
  ...(['png', 'gif', 'webp', 'avif'] as const).map((each) => [`image/${each}`, each] as const),
  ['image/jpeg', 'jpg'],
  ['image/svg+xml', 'svg'],
  ['image/x-icon', 'ico'],
]);

/**
 * The files that a project names by address, as files of the project. The lock in its folder says which bytes they have: bytes with these digests come
 * from the cache, and everything else is fetched. Bytes that differ from the lock are an error unless `refresh` is set. Outside CI the lock is completed
 * and written. A file that cannot be fetched is reported and left out.
 */
export async function remoteParts(project: NamedFiles, options: RemoteOptions): Promise<RemoteParts> {
  const { folder, fetch = true, refresh = false, isCi = false, isWhole = true } = options;
  const run = new Run(project, options);
  let lock: Lock | undefined;
  try {
    lock = await readLock(folder);
  } catch (error) {
    if (!(error instanceof BadLock)) throw error;
    if (!refresh) {
      run.say(
        'bad-lock',
        'error',
        `${lockFile} cannot be read: ${error.message}. Restore it, or write a new one with --refresh.`,
        { file: lockFile },
      );
      return run.result();
    }
  }
  const pictures = options.pictures ?? lock?.pictures ?? false;
  const all = await namedParts(project, { pictures });
  if (all.length === 0 && lock === undefined) return noParts;
  run.locked = lock?.parts ?? new Map();
  run.pictures = pictures;
  const parts = all.slice(0, mostParts);
  if (all.length > parts.length) run.sayTooMany(all.length);
  await run.obtain(parts);
  if (fetch) {
    const isChanging = isWhole || run.fresh.size > 0;
    const next: Lock = {
      pictures,
      parts: new Map([...(isWhole ? run.stillLocked() : run.locked), ...run.fresh]),
    };
    if (isCi && !refresh) run.sayStale(lock);
    else if (isChanging && !isSame(lock, next) && (next.parts.size > 0 || lock !== undefined))
      await writeLock(folder, next).catch((error: unknown) => {
        const message = `${lockFile} cannot be written: ${messageOf(error)}. Without it, another build may get other files.`;
        run.say('lock-out-of-date', 'warning', message, { file: lockFile });
      });
  }
  return run.result();
}

/** The files of the lock that are in the cache, whether the project still names them or not; pages are not read. */
export async function lockedFiles(folder: string, cache = defaultCache()): Promise<ReadonlyMap<string, Uint8Array>> {
  return (await lockedCopies(folder, cache)).files;
}

/** The files of the lock that are in the cache, and the addresses of the others. A lock that cannot be read counts as none. */
async function lockedCopies(
  folder: string,
  cache: string,
): Promise<{ files: Map<string, Uint8Array>; missing: Set<string> }> {
  const lock = await readLock(folder).catch(() => undefined);
  const files = new Map<string, Uint8Array>();
  const missing = new Set<string>();
  const cached = partCache(cache);
  for (const [address, { sha256, type }] of [...(lock?.parts ?? [])].slice(0, mostParts)) {
    const extension = extensions.get(type);
    const bytes = extension && (await cached.get(sha256));
    if (bytes === undefined) missing.add(address);
    else files.set(remoteFile(address, extension as RemoteFormat), bytes);
  }
  return { files, missing };
}

/**
 * The files of the lock that are in the cache, for a program that fetches nothing. A file of the lock that is not there is told at the place that names
 * it; `withoutSaid` removes the findings that say that the project has no copy. Pages are read only if a file is not there.
 */
export async function lockedParts(project: NamedFiles, folder: string, cache = defaultCache()): Promise<RemoteParts> {
  const { files, missing } = await lockedCopies(folder, cache);
  if (missing.size === 0) return { ...noParts, files };
  const named = (await namedParts(project, { pictures: false })).filter(({ address, otherwise }) =>
    [address, ...otherwise].some((each) => missing.has(each)),
  );
  const said = new Set(named.flatMap(({ replaces }) => replaces.map(({ code, message }) => `${code} ${message}`)));
  return {
    ...noParts,
    files,
    diagnostics: named.map(({ kind, address, file, line }): Finding => {
      const message = `The ${kind === 'description' ? 'API description' : 'font'} ${quoted(address)} is in ${lockFile}, and not on this machine yet. Fetch it with "bindery check".`;
      return { severity: 'info', code: 'remote-not-there-yet', message, file, ...(line !== undefined && { line }) };
    }),
    withoutSaid: (found) => found.filter(({ code, message }) => !said.has(`${code} ${message}`)),
  };
}

/** One look at the addresses of a project. */
class Run {
  pictures = false;
  locked: ReadonlyMap<string, LockedPart> = new Map();
  /** Facts about the fetched files, for the lock. */
  readonly fresh = new Map<string, LockedPart>();
  readonly #options: RemoteOptions;
  readonly #cache: ReturnType<typeof partCache>;
  readonly #own: ReadonlySet<string>;
  readonly #obtained = new Map<string, Obtained>();
  readonly #diagnostics: Finding[] = [];
  /** Codes and messages of the findings that these diagnostics replace. */
  readonly #said = new Set<string>();
  /** The addresses that were used or asked, among them those of style sheets. */
  readonly #named = new Set<string>();
  readonly #addresses = new Set<string>();
  #bytes = 0;
  #pending: NamedPart[] = [];

  constructor(project: NamedFiles, options: RemoteOptions) {
    this.#options = options;
    this.#cache = partCache(options.cache ?? defaultCache());
    this.#own = new Set(project.files.flatMap(({ path }) => stemOf(path) ?? []));
  }

  say(
    code: FindingCode,
    severity: Diagnostic['severity'],
    message: string,
    { file, line }: { file: string; line?: number },
  ): void {
    this.#diagnostics.push({ severity, code, message, file, ...(line !== undefined && { line }) });
  }

  sayTooMany(count: number): void {
    const message = `The project names ${formatNumber(count)} files by address; the first ${formatNumber(mostParts)} of them are fetched.`;
    this.say('remote-fetch-failed', 'warning', message, { file: '' });
  }

  /** Says in CI that the lock lacks addresses, or has some that nothing names. */
  sayStale(lock: Lock | undefined): void {
    const [first] = this.fresh.keys();
    if (first !== undefined) {
      const what = lock === undefined ? 'The project has no' : 'The project has an incomplete';
      const message = `${what} ${lockFile}: ${counted(this.fresh.size, 'file')} at an address ${this.fresh.size === 1 ? 'is' : 'are'} not in it, such as ${quoted(first)}. Run "bindery check" on your machine and commit ${lockFile}, so that every build has the same files.`;
      this.say('lock-out-of-date', 'warning', message, { file: lockFile });
    }
    const unused = [...this.locked.keys()].filter((address) => !this.#named.has(address));
    if (unused.length === 0) return;
    const message = `${lockFile} has ${counted(unused.length, 'address', 'addresses')} that the project no longer names, such as ${quoted(unused[0] ?? '')}. Run "bindery check" on your machine and commit ${lockFile}.`;
    this.say('lock-out-of-date', 'info', message, { file: lockFile });
  }

  /** The entries of the lock that the project still names: all of them if a file is missing, because it may name others. */
  stillLocked(): [string, LockedPart][] {
    const isMissing = ({ code }: Finding): boolean => code === 'remote-fetch-failed' || code === 'remote-changed';
    if (this.#diagnostics.some(isMissing)) return [...this.locked];
    return [...this.locked].filter(([address]) => this.#named.has(address));
  }

  async obtain(parts: readonly NamedPart[]): Promise<void> {
    const { refresh = false, fetch = true, onBegin } = this.#options;
    for (const { address, otherwise } of parts) for (const each of [address, ...otherwise]) this.#addresses.add(each);
    for (const part of parts) if (refresh || !(await this.#fromCache(part))) this.#pending.push(part);
    onBegin?.(this.result());
    const waiting = this.#pending;
    this.#pending = [];
    if (fetch) await this.#fetchAll(waiting);
    else for (const part of waiting) this.#name(part.address);
    const faces = this.#faces();
    const missing: NamedPart[] = [];
    for (const face of faces) if (refresh || !(await this.#fromCache(face))) missing.push(face);
    if (fetch) await this.#fetchAll(missing);
    if (this.fresh.size > 0) await this.#cache.tidy();
  }

  /** True if the cache has the bytes that the lock names. Also for one of the other addresses of a part, if the lock has that one. */
  async #fromCache(part: NamedPart): Promise<boolean> {
    for (const address of [part.address, ...part.otherwise]) {
      const locked = this.locked.get(address);
      const extension = locked && extensions.get(locked.type);
      if (locked === undefined || extension === undefined) continue;
      const bytes = await this.#cache.get(locked.sha256);
      if (bytes === undefined) continue;
      this.#name(address);
      this.#keep({ part: { ...part, address }, bytes, locked, extension });
      return true;
    }
    return false;
  }

  #name(address: string): void {
    this.#named.add(address);
  }

  #keep(obtained: Obtained): void {
    const { part, bytes } = obtained;
    this.#bytes += bytes.length;
    if (this.#bytes <= mostBytes) this.#obtained.set(part.address, obtained);
    else
      this.say(
        'remote-fetch-failed',
        'warning',
        `${quoted(part.address)} is left out: together with the files before it, it exceeds 256 MB.`,
        part,
      );
  }

  async #fetchAll(parts: readonly NamedPart[]): Promise<void> {
    if (parts.length === 0) return;
    const [{ fetchPart, NotFetched }, { partKinds }] = await Promise.all([
      import('./fetch-part.ts'),
      import('./part-kinds.ts'),
    ]);
    const byAddress = new Map(parts.map((part) => [part.address, part]));
    await inTurns([...byAddress.keys()], turns, async (first) => {
      const part = byAddress.get(first) as NamedPart;
      // A part that the lock has under another address has that one.
      const known = [part.address, ...part.otherwise].find((address) => this.locked.has(address));
      const addresses = known === undefined || this.#options.refresh ? [part.address, ...part.otherwise] : [known];
      for (const [at, address] of addresses.entries()) {
        try {
          const { bytes, format } = await fetchPart(this.#where(address), part.kind, {
            allowPrivate: this.#mayBePrivate(part),
          });
          this.#name(address);
          await this.#take({ ...part, address }, bytes, format);
          return undefined;
        } catch (error) {
          if (!(error instanceof NotFetched)) throw error;
          const isRefused = part.kind === 'style' && error.status === 400;
          if (isRefused && at < addresses.length - 1) continue;
          // Google Fonts has no such family: the reader of the project says that the font has no file.
          if (isRefused) return undefined;
          const name = partKinds[part.kind];
          await this.#missed(
            part,
            `The ${name.name} ${quoted(address)} cannot be fetched: ${error.message}.`,
            name.without,
          );
          return undefined;
        }
      }
      return undefined;
    });
  }

  /** Takes fetched bytes, unless the lock has others. */
  async #take(
    part: NamedPart,
    bytes: Uint8Array,
    { extension, type }: { extension: RemoteFormat; type: string },
  ): Promise<void> {
    const locked = { sha256: sha256Of(bytes), sizeBytes: bytes.length, type };
    const before = this.locked.get(part.address);
    if (before !== undefined && before.sha256 !== locked.sha256 && this.#options.refresh !== true) {
      const message = `The bytes of ${quoted(part.address)} are not those in ${lockFile} (SHA-256 ${locked.sha256.slice(0, 12)}…, not ${before.sha256.slice(0, 12)}…). Look at the change, and take it over with --refresh.`;
      this.say('remote-changed', 'error', message, part);
      this.#replaces(part);
      return;
    }
    await this.#cache.put(locked.sha256, bytes);
    if (before === undefined || this.#options.refresh === true) this.fresh.set(part.address, locked);
    this.#keep({ part, bytes, locked, extension });
  }

  /** Uses an earlier copy of a part that cannot be fetched, or says that it is missing. */
  async #missed(part: NamedPart, problem: string, without: string): Promise<void> {
    for (const address of [part.address, ...part.otherwise]) this.#name(address);
    if (await this.#fromCache(part))
      this.say('remote-copy-used', 'warning', `${problem} The copy of ${lockFile} is used.`, part);
    else if (this.#own.has(stemOf(remoteFile(part.address, 'json')) ?? ''))
      this.say('remote-copy-used', 'warning', `${problem} The copy in the project is used.`, part);
    else {
      this.say('remote-fetch-failed', 'warning', `${problem} ${without}`, part);
      this.#replaces(part);
    }
  }

  #replaces({ replaces }: NamedPart): void {
    for (const { code, message } of replaces) this.#said.add(`${code} ${message}`);
  }

  /** The font files of the style sheets. */
  #faces(): NamedPart[] {
    const faces = new Map<string, NamedPart>();
    for (const { part, bytes } of this.#obtained.values()) {
      if (part.kind !== 'style') continue;
      for (const face of facesIn(Buffer.from(bytes).toString())) {
        const address = remoteAddress(face.address);
        if (address !== undefined && !this.#obtained.has(address))
          faces.set(address, { ...part, kind: 'font', address, otherwise: [], isOfStyle: true });
      }
    }
    return [...faces.values()];
  }

  /** The address that is asked: another service may stand in for Google Fonts. */
  #where(address: string): string {
    const { fontService } = this.#options;
    return fontService === undefined || !address.startsWith(googleFonts)
      ? address
      : new URL(address.slice(googleFonts.length), fontService).href;
  }

  /** Private addresses must be written in the project. A style sheet may name files on its own host only. */
  #mayBePrivate({ address, isOfStyle = false }: NamedPart): boolean {
    const { allowPrivate, fontService = googleFonts } = this.#options;
    return allowPrivate && (!isOfStyle || new URL(address).host === new URL(fontService).host);
  }

  result(): RemoteParts {
    const files = new Map<string, Uint8Array>();
    const listed: object[] = [];
    for (const { part, bytes, locked, extension } of sorted(this.#obtained)) {
      const file = remoteFile(part.address, extension);
      files.set(file, bytes);
      listed.push({ address: part.address, file, ...locked });
    }
    if (listed.length > 0)
      files.set(remoteManifestPath, Buffer.from(`${JSON.stringify({ formatVersion: 2, files: listed }, null, 1)}\n`));
    const said = new Set(this.#said);
    const pending = this.#pending.flatMap(({ kind, address, file, line, replaces }): Finding[] => {
      for (const { code, message } of replaces) said.add(`${code} ${message}`);
      const message = `The ${kind === 'description' ? 'API description' : kind === 'picture' ? 'picture' : 'font'} ${quoted(address)} is being fetched. Pages show it when it is there.`;
      return [{ severity: 'info', code: 'remote-not-there-yet', message, file, ...(line !== undefined && { line }) }];
    });
    return {
      files,
      diagnostics: [...this.#diagnostics, ...pending],
      addresses: this.#addresses,
      pictures: this.pictures,
      withoutSaid: (found) => found.filter(({ code, message }) => !said.has(`${code} ${message}`)),
    };
  }
}

const googleFonts = 'https://fonts.googleapis.com';

const sorted = (obtained: ReadonlyMap<string, Obtained>): Obtained[] =>
  [...obtained].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);

function isSame(lock: Lock | undefined, next: Lock): boolean {
  if (lock === undefined || lock.pictures !== next.pictures || lock.parts.size !== next.parts.size) return false;
  return [...next.parts].every(([address, { sha256, type }]) => {
    const before = lock.parts.get(address);
    return before?.sha256 === sha256 && before.type === type;
  });
}
