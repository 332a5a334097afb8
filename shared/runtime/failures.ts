/*
 * How a caller goes on after an error. The class decides, never a name or a text: ports throw subclasses of these, and every loop
 * that retries, reloads or gives up asks here.
 */

/** A needed system is away or too slow. The same call may work later. */
export class Unavailable extends Error {
  override name = 'Unavailable';
}

/** Another writer was faster. Load again, decide again. */
export class Conflict extends Error {
  override name = 'Conflict';
}

/** A message or document that no later try of this program can handle. It is set aside, and what comes after it goes on. */
export class Poison extends Error {
  override name = 'Poison';
}

/**
 * A message that says something this program does not know: a type, a version, or a value of a list that has grown since. A newer program
 * wrote it. Skipping it would leave a hole in the state, so it waits for the upgrade.
 */
export class NewerMessage extends Poison {
  override name = 'NewerMessage';
}

/** The text of anything that was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What was thrown, as an error: anything can be. */
export const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

/** The `code` of an error of Node (`ENOENT`), if it has one. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
