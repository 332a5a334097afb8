import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeWithSmallDisk, mountSmallDisk } from '../../test/support/small-disk.ts';
import { testObjectStore } from '../../test/support/test-object-store.ts';
import { ObjectStoreUnavailable } from './object-store.ts';

describeWithSmallDisk('a folder on a disk that is full', () => {
  test('is unavailable, keeps nothing of failed writes, and works again when there is room', async () => {
    const disk = mountSmallDisk(4);
    const folder = join(disk.folder, 'objects');
    const store = testObjectStore(folder);
    try {
      await store.check();
      disk.fill();
      for (let asked = 0; asked < 20; asked += 1) await expect(store.check()).rejects.toThrow(ObjectStoreUnavailable);
      await expect(store.put('a', Buffer.from('x'))).rejects.toThrow(ObjectStoreUnavailable);
      await expect(store.put('a', Buffer.from('x'))).rejects.toThrow(`${folder} cannot be used: its disk is full`);
      expect(await readdir(join(folder, 'uploads'))).toEqual([]);
      disk.free();
      await store.check();
      await store.put('a', Buffer.from('x'));
    } finally {
      await store.close();
      disk.remove();
    }
  });
});
