import { z } from 'zod';

/** A stored message before its schema has seen it: only its version is known, and what tells it apart (`type`; `kind` of tasks). */
type VersionedMessage = { version: number; [field: string]: unknown };

/** Turns one version of a message into the next. Pure: everything that the new version says must follow from the old one. */
type Upcast = (message: VersionedMessage) => VersionedMessage;

/**
 * `<type>@<version>` → the function that makes the next version of it. Types are unique within one kind of message only (`ChunkRendered`
 * is an event and a fact), so each kind has a table of its own. State in a commit has no version: it gains optional fields only, because
 * folding the events can make it anew.
 */
export type UpcastTable = Readonly<Record<`${string}@${number}`, Upcast>>;

/** A table whose function does not go up: it would run for ever, or skip a version. The message names type and version. */
export class BadUpcast extends Error {
  override name = 'BadUpcast';
}

/**
 * The newest version of a message, step by step; what has no version, or is not in the table, comes back as it is, for the schema to
 * judge. Pure. Throws `BadUpcast`.
 */
export function upcast(message: unknown, table: UpcastTable): unknown {
  let current = message;
  while (isVersioned(current)) {
    const type = String(current.type ?? current.kind);
    const step = table[`${type}@${current.version}`];
    if (step === undefined) return current;
    const next = step(current);
    if (next.version !== current.version + 1) {
      throw new BadUpcast(`The upcast of ${type} version ${current.version} makes version ${next.version}.`);
    }
    current = next;
  }
  return current;
}

/**
 * A stored commit with its events in their newest versions. Ids and hashes stay those of the stored form: the chain links what was
 * stored, and is verified on that alone (`verify-chain.ts`).
 */
export function upcastCommit(commit: unknown, table: UpcastTable): unknown {
  if (!isObject(commit) || !isObject(commit.data) || !Array.isArray(commit.data.events)) return commit;
  const events = commit.data.events.map((event: unknown) => upcast(event, table));
  return { ...commit, data: { ...commit.data, events } };
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const isVersioned = (value: unknown): value is VersionedMessage => isObject(value) && typeof value.version === 'number';

/**
 * The schema that reads any version of a message that was ever stored and gives the newest. To change the meaning of a message, add version
 * n + 1 to its schema, a line `'<type>@<n>'` to its table, and a golden file beside the old one, which stays.
 */
export const storedMessage = <S extends z.ZodType>(schema: S, table: UpcastTable) =>
  z.preprocess((stored) => upcast(stored, table), schema);

/** The same for the events of a commit. */
export const storedCommit = <S extends z.ZodType>(schema: S, table: UpcastTable) =>
  z.preprocess((stored) => upcastCommit(stored, table), schema);
