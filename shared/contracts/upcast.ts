import { z } from 'zod';

/** A stored message before it is parsed: only its version and its discriminator are known (`type`, or `kind` of tasks). */
type VersionedMessage = { version: number; [field: string]: unknown };

/** Turns one version of a message into the next. Pure: all content of the new version must follow from the old one. */
type Upcast = (message: VersionedMessage) => VersionedMessage;

/**
 * Upcasts of one kind of message: `<type>@<version>` → the function that makes the next version. Types are unique within one kind of message only
 * (`ChunkRendered` is an event and a fact), so each kind has its own table. State in a commit has no version: it gains optional fields only, because
 * it can be folded again from the events.
 */
export type UpcastTable = Readonly<Record<`${string}@${number}`, Upcast>>;

/**
 * An upcast in a table does not increase the version by one: the loop would not end, or would skip a version. The message names the type
 * and version.
 */
export class BadUpcast extends Error {
  override name = 'BadUpcast';
}

/**
 * The newest version of a message, step by step. A message without a version, or not in the table, is returned unchanged, and the schema
 * judges it. Pure. Throws `BadUpcast`.
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
 * A stored commit with its events in their newest versions. Ids and hashes stay those of the stored form: the chain links stored commits,
 * and is verified on these only (`verify-chain.ts`).
 */
export function upcastCommit(commit: unknown, table: UpcastTable): unknown {
  if (!isObject(commit) || !isObject(commit.data) || !Array.isArray(commit.data.events)) return commit;
  const events = commit.data.events.map((event: unknown) => upcast(event, table));
  return { ...commit, data: { ...commit.data, events } };
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const isVersioned = (value: unknown): value is VersionedMessage => isObject(value) && typeof value.version === 'number';

/**
 * The schema that reads every version of a message that was ever stored and returns the newest one. To change the meaning of a message, add
 * version n + 1 to its schema, a line `'<type>@<n>'` to its table, and a golden file beside the old one, which stays.
 */
export const storedMessage = <S extends z.ZodType>(schema: S, table: UpcastTable) =>
  z.preprocess((stored) => upcast(stored, table), schema);

/** The schema of a commit that reads every stored version of its events. */
export const storedCommit = <S extends z.ZodType>(schema: S, table: UpcastTable) =>
  z.preprocess((stored) => upcastCommit(stored, table), schema);
