import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SearchUnavailable } from '#shared/search/search-index.ts';
import { describeWithSmallDisk, mountSmallDisk } from '../../../test/support/small-disk.ts';
import { sqliteSearchIndex } from './sqlite-search-index.ts';

const page = {
  ...{ path: 'a', key: 'a', title: 'A', names: [], keywords: [], groups: [], boost: 1, links: [], markdown: '# A\n' },
  passages: [{ anchor: 'a', heading: '', text: 'words '.repeat(20_000) }],
};

describeWithSmallDisk('a search index on a disk that is full', () => {
  test('is unavailable to a build, answers searches, and is built when there is room', async () => {
    const disk = mountSmallDisk(8);
    const index = sqliteSearchIndex(join(disk.folder, 'search'));
    const scope = { organization: 'acme', domain: 'docs', contentVersion: 'cv_1' };
    const found = async () => (await index.search({ ...scope, query: 'words', limit: 5 })).length;
    const build = async (contentVersion: string) => {
      const building = await index.startBuild({ ...scope, contentVersion });
      try {
        await building.add([page]);
        await building.commit();
      } catch (error) {
        await building.abandon();
        throw error;
      }
    };
    try {
      await build('cv_1');
      disk.fill();
      await expect(build('cv_2')).rejects.toThrow(SearchUnavailable);
      expect(await found()).toBe(1);
      expect(await index.passageCount({ ...scope, contentVersion: 'cv_2' })).toBeUndefined();
      disk.free();
      await build('cv_2');
      expect(await index.passageCount({ ...scope, contentVersion: 'cv_2' })).toBe(1);
    } finally {
      await index.close();
      disk.remove();
    }
  });
});
