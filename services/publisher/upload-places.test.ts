import { expect, test } from 'vitest';
import { ApiError } from '#shared/http/errors.ts';
import { uploadPlaces } from './upload-places.ts';

/** Takes places until none is left for the organization, and returns their number. */
function takeAll(places: ReturnType<typeof uploadPlaces>, organization: string): number {
  for (let got = 0; ; got += 1) {
    try {
      places.take(organization);
    } catch (error) {
      expect(error).toMatchObject({ code: 'unavailable', retryAfterSeconds: 5 });
      return got;
    }
  }
}

test('one organization cannot take all places, nor can the second', () => {
  const places = uploadPlaces(8);
  expect(['acme', 'globex', 'initech', 'hooli'].map((organization) => takeAll(places, organization))).toEqual([
    4, 2, 1, 1,
  ]);
});

test('a single place goes to the first upload', () => {
  const places = uploadPlaces(1);
  expect(takeAll(places, 'acme')).toBe(1);
  expect(() => places.take('globex')).toThrow(ApiError);
});

test('a place that was given back is free again, and only once', () => {
  const places = uploadPlaces(2);
  const giveBack = places.take('acme');
  expect(() => places.take('acme')).toThrow('publishes 1 project already');
  giveBack();
  giveBack();
  expect(takeAll(places, 'acme')).toBe(1);
  expect(takeAll(places, 'globex')).toBe(1);
});
