import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { searchIndexContract } from './search-index.contract.ts';
import { sqliteSearchIndex } from './sqlite-search-index.ts';

searchIndexContract(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bindery-search-'));
  const index = sqliteSearchIndex(folder);
  return {
    index,
    reopen: () => sqliteSearchIndex(folder),
    end: async () => {
      await index.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
});
