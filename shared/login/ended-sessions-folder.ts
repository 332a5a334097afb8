import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '#shared/runtime/failures.ts';
import type { EndedSessionStore } from './ended-sessions.ts';

/** Keeps each name as an empty file in a folder, for one copy of the host. */
export const endedSessionsInFolder = (folder: string): EndedSessionStore => ({
  async read() {
    try {
      return await readdir(folder);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return [];
      throw error;
    }
  },
  async add(name) {
    await mkdir(folder, { recursive: true });
    for (const path of [join(folder, name), folder]) {
      const file = await open(path, path === folder ? 'r' : 'w');
      await file.sync();
      await file.close();
    }
  },
  async remove(names) {
    for (const name of names) await rm(join(folder, name), { force: true });
  },
  close() {},
});
