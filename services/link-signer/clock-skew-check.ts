import type { ObjectStore } from '#shared/object-store/object-store.ts';

const mostSkewMs = 5_000;

/** Rejects while the store's clock is more than 5 seconds off ours: what we said of a link's end would be wrong. */
export async function checkClockSkew(objectStore: Pick<ObjectStore, 'clockSkewMs'>): Promise<void> {
  const skewMs = await objectStore.clockSkewMs();
  if (Math.abs(skewMs) <= mostSkewMs) return;
  const direction = skewMs > 0 ? 'ahead of' : 'behind';
  throw new Error(`the object store's clock is ${Math.abs(skewMs) / 1000} s ${direction} ours; set both by NTP`);
}
