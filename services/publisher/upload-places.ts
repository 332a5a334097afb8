import { ApiError } from '#shared/http/errors.ts';

/** Retry-After of a refused upload, in seconds. Most publications take less. */
const comeAgainAfter = 5;

/** The places for concurrent uploads to a publisher. */
export type UploadPlaces = {
  /** Takes a place for an organization, and returns the function that frees it. Throws `unavailable` if there is none for it. */
  take(organization: string): () => void;
};

/**
 * Limits concurrent uploads to `places`. An organization gets another place only while more are free than it has already, so that one with many
 * uploads leaves room for others.
 */
export function uploadPlaces(places: number): UploadPlaces {
  const taken = new Map<string, number>();
  let free = places;
  return {
    take(organization) {
      const own = taken.get(organization) ?? 0;
      if (free === 0) {
        throw new ApiError('unavailable', 'Too many projects are being published at once. Try again later.', {
          retryAfterSeconds: comeAgainAfter,
        });
      }
      if (own >= free) {
        const sentence = `This organization publishes ${own} ${own === 1 ? 'project' : 'projects'} already. Try again when one of them is done.`;
        throw new ApiError('unavailable', sentence, { retryAfterSeconds: comeAgainAfter });
      }
      free -= 1;
      taken.set(organization, own + 1);
      let isTaken = true;
      return () => {
        if (!isTaken) return;
        isTaken = false;
        free += 1;
        const left = (taken.get(organization) ?? 1) - 1;
        if (left > 0) taken.set(organization, left);
        else taken.delete(organization);
      };
    },
  };
}
