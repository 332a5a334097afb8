import { blobKey } from '#shared/contracts/content-keys.ts';
import type { ObjectStore } from '#shared/object-store/object-store.ts';
import { recent } from './recent.ts';

/** Gives the text of a snippet or an API specification, which many pages share. Rejects when it is gone, or with `ObjectStoreUnavailable`. */
export type ProjectTexts = (organization: string, sha256: string) => Promise<string>;

/** In characters. */
const remembered = 16_000_000;

export function projectTexts(objectStore: ObjectStore): ProjectTexts {
  const remember = recent<string>(remembered, (text) => text.length);
  return (organization, sha256) =>
    remember(`${organization}/${sha256}`, async () => {
      const stored = await objectStore.get(blobKey(organization, sha256));
      if (stored === undefined) throw new Error(`the file ${sha256} of the project is gone`);
      return Buffer.from(stored).toString();
    });
}
