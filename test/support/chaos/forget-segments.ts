import { rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Everything that was rendered or joined, gone, so that the next export of the same content does all of it again. While no job runs. */
export async function forgetSegments({ folder }: { folder: string }): Promise<void> {
  const stored = join(folder, 'objects', 'stored');
  for (const part of ['segments', 'bundles']) await rm(join(stored, part), { recursive: true, force: true });
}
