import { type JsonObject, objectOf, textsOf } from '#shared/docs/project/json-values.ts';
import { metadataOf } from './operations.ts';

/**
 * Groups that may see an operation or channel, from its `x-mint`. Undefined means everyone. An empty list means nobody, because the written groups
 * cannot be read.
 */
function groupsOfPart(written: JsonObject): string[] | undefined {
  const groups = objectOf(written['x-mint'])['groups'] ?? metadataOf(written)['groups'];
  return groups === undefined || groups === null || (Array.isArray(groups) && groups.length === 0)
    ? undefined
    : textsOf(groups);
}

/** True for an operation or channel that is excluded (`x-excluded`), or that none of these groups may see. */
export function isClosed(written: JsonObject, groups: readonly string[]): boolean {
  if (written['x-excluded'] === true) return true;
  const own = groupsOfPart(written);
  return own !== undefined && !own.some((group) => groups.includes(group));
}

/** True for a part of an operation or channel that not all readers of that operation or channel may see, such as a callback. */
export function isClosedWithin(part: JsonObject, whole: JsonObject): boolean {
  if (part['x-excluded'] === true) return true;
  const own = groupsOfPart(part);
  const readers = groupsOfPart(whole);
  return own !== undefined && !(readers?.every((group) => own.includes(group)) ?? false);
}
