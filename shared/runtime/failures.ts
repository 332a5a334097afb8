/*
 * Error classes that decide how a caller proceeds; a name or text never does. Ports throw subclasses of them, and every loop that retries,
 * reloads or gives up tests for them.
 */

/** A required system is unavailable or too slow. The same call may succeed later. */
export class Unavailable extends Error {
  override name = 'Unavailable';
}

/** Another writer was faster. The caller loads again and decides again. */
export class Conflict extends Error {
  override name = 'Conflict';
}

/** A message or document that no later try of this program can handle. It becomes a dead letter, and later messages are handled. */
export class Poison extends Error {
  override name = 'Poison';
}

/**
 * A message with a type, version or listed value that this program does not know. A newer program wrote it. Skipping it would leave a hole
 * in the state, so it waits for the upgrade.
 */
export class NewerMessage extends Poison {
  override name = 'NewerMessage';
}

/** The text of any thrown value. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A thrown value as an error, because any value can be thrown. */
export const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

/** The `code` of a Node error (`ENOENT`), if it has one. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
