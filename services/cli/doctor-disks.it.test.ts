import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeWithSmallDisk, mountSmallDisk } from '../../test/support/small-disk.ts';
import { examinationText } from './commands/doctor.ts';
import { examine } from './doctor/examine.ts';
import { noPaint } from './terminal.ts';

/** The doctor's report when objects are in this folder. */
async function saidAbout(folder: string): Promise<string> {
  const environment = { BINDERY_OBJECT_STORE: 'folder', BINDERY_OBJECT_FOLDER: folder };
  const about = { dataFolder: '/nowhere', services: [], gateway: undefined, natsMonitors: [] };
  return examinationText(await examine({ environment, ...about }), noPaint);
}

describeWithSmallDisk('bindery doctor about a folder of objects', () => {
  test('says what to do when its disk is full, and when it is read-only', async () => {
    const disk = mountSmallDisk(2);
    const folder = join(disk.folder, 'objects');
    try {
      expect(await saidAbout(folder)).toMatch(/✓ The object store at \S+ wrote and read an object/);
      disk.fill();
      expect(await saidAbout(folder)).toMatch(
        /✗ The object store does not work: the folder \S+ cannot be used: its disk is full \(.+\)\.\n +→ Make room on that disk/,
      );
      disk.free();
      disk.makeReadOnly();
      for (const each of [folder, join(disk.folder, 'new')]) {
        expect(await saidAbout(each)).toMatch(
          /✗ The object store does not work: the folder \S+ cannot be used: .*read-only.*\.\n +→ Let the user of the services write to this folder/,
        );
      }
    } finally {
      disk.remove();
    }
  });
});
