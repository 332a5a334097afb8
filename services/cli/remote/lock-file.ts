import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lockFile } from '#shared/docs/reference/remote-files.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import { errorCode, messageOf } from '#shared/runtime/failures.ts';
import { firstProblem, problemText } from '#shared/runtime/problem-text.ts';
import { writeWhole } from '../kept-records.ts';
import type { lockSchema } from './lock-schema.ts';

/** The bytes that an address had when it was fetched. `type`: the media type, which the bytes decided. */
export type LockedPart = ReturnType<typeof lockSchema.parse>['parts'][string];

/** The lock of a project. `pictures`: its author has asked for the pictures, too. */
export type Lock = { pictures: boolean; parts: ReadonlyMap<string, LockedPart> };

/** The lock is damaged, or of a later version. The message ends the sentence "docs.lock.json cannot be read: …". */
export class BadLock extends Error {
  override name = 'BadLock';
}

/** Reads the lock of a project's folder; undefined if there is none. Throws `BadLock`. */
export async function readLock(folder: string): Promise<Lock | undefined> {
  let text: string;
  try {
    text = await readFile(join(folder, lockFile), 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new BadLock(messageOf(error), { cause: error });
  }
  const value = jsonIn(text);
  if (value === undefined) throw new BadLock('it is not JSON');
  // Few projects have a lock, and the schemas take longer to load than a check of a small project otherwise needs.
  const schema = (await import('./lock-schema.ts')).lockSchema;
  const { data, error } = schema.safeParse(value, { error: problemText });
  if (error) throw new BadLock(firstProblem(error, 'it'));
  return { pictures: data.pictures ?? false, parts: new Map(Object.entries(data.parts)) };
}

/** The text of a lock: sorted, with one line for each address, so that a change of one is a change of one line. Pure. */
function lockText({ pictures, parts }: Lock): string {
  const lines = [...parts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([address, { sha256, sizeBytes, type }]) => {
      const facts = `"sha256": "${sha256}", "sizeBytes": ${sizeBytes}, "type": ${JSON.stringify(type)}`;
      return `    ${JSON.stringify(address)}: { ${facts} }`;
    });
  const body = lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n  }`;
  return `{\n  "lockVersion": 1,\n${pictures ? '  "pictures": true,\n' : ''}  "parts": ${body}\n}\n`;
}

/** Writes the lock, which readers see whole or not at all. */
export const writeLock = (folder: string, lock: Lock): Promise<void> =>
  writeWhole(join(folder, lockFile), lockText(lock));
