import { createHmac } from 'node:crypto';
import type { ContentState } from '#shared/aggregates/content/content.ts';
import type { StartExportBody } from '#shared/interfaces/http/exports.ts';
import { pagePathOfAddress } from '#shared/docs/render/bundle-paths.ts';
import { ApiError } from '#shared/http/errors.ts';
import { guessAmong } from '#shared/runtime/problem-text.ts';
import { sha256OfJson } from '#shared/runtime/canonical-json.ts';
import { base62Of } from '#shared/runtime/time-and-ids.ts';

const jobIdDigits = 22;

/** The job id of an idempotency key, stable while the hash key is the same. Pure. */
export function jobIdOfIdempotencyKey(hashKey: string, organization: string, idempotencyKey: string): string {
  // JSON keeps different pairs apart. Texts that are joined with a separator may be equal for two pairs.
  const digest = createHmac('sha256', hashKey)
    .update(JSON.stringify([organization, idempotencyKey]))
    .digest();
  return `se_${base62Of(digest, jobIdDigits)}`;
}

export const newJobId = (random: (length: number) => string): string => `se_${random(jobIdDigits)}`;

/** Normalizes a request, so that equal requests compare as equal: paths and groups are sorted and deduplicated. Pure. */
export function requestedExport({ paths, ...body }: StartExportBody): StartExportBody {
  const requested = { ...body, groups: sortedOnce(body.groups) };
  return paths === undefined ? requested : { ...requested, paths: sortedOnce(paths.map(pagePathOfAddress)) };
}

const sortedOnce = (texts: readonly string[]): string[] => [...new Set(texts)].sort();

/** Two requests with one idempotency key are the same request if their digests are equal. Pure. */
export const startRequestDigest = (requested: StartExportBody, domain: string): string =>
  sha256OfJson({ ...requested, domain });
export const replayRequestDigest = (replayOf: string): string => sha256OfJson({ replayOf });

/** The content version to export: the one with that label if there is one, else the latest. Throws `not_found`. Pure. */
export function resolveContentVersion(
  domain: string,
  content: ContentState | undefined,
  label: string | undefined,
): string {
  const labelled = label !== undefined && content !== undefined && Object.hasOwn(content.labels, label);
  const chosen = labelled ? content.labels[label] : content?.latest;
  if (chosen === undefined) {
    throw new ApiError(
      'not_found',
      `Nothing is published for the domain "${domain}" yet. Publish its docs project with PUT /v1/domains/${domain}/content.`,
    );
  }
  return chosen;
}

/** Throws an `invalid_request` that names each field that would make an air-gapped site call a server. Pure. */
export function checkFeatures({ deployment, assistantKey, features = {} }: StartExportBody): void {
  if (deployment !== 'air-gapped') return;
  const asking = {
    assistantKey: assistantKey !== undefined,
    'features.search': features.search === 'server',
    'features.assistant': features.assistant === true,
    'features.analytics': features.analytics === true,
  };
  const fields = Object.entries(asking).flatMap(([path, isAsking]) =>
    isAsking ? [{ path, message: 'an air-gapped site sends no requests to servers' }] : [],
  );
  if (fields.length === 0) return;
  throw new ApiError(
    'invalid_request',
    'An air-gapped site sends no requests to servers: it has no assistant, no analytics, and at most the search in its own index (features.search "bundle").',
    { fields },
  );
}

const mostPathsNamed = 20;

/** Throws an `invalid_request` that names the requested paths that are not pages of the content. Pure. */
export function checkPagesExist(paths: readonly string[], pages: ReadonlySet<string>, contentVersion: string): void {
  const unknown = paths.flatMap((path, index) => (pages.has(pagePathOfAddress(path)) ? [] : [{ path, index }]));
  const first = unknown[0];
  if (first === undefined) return;
  const rest = unknown.length === 1 ? '' : `, and ${unknown.length - 1} more`;
  throw new ApiError(
    'invalid_request',
    `There is no page "${first.path}" in content version ${contentVersion}${rest}. Paths are as in the site's addresses, such as "guides/x".`,
    {
      fields: unknown
        .slice(0, mostPathsNamed)
        .map(({ path, index }) => ({ path: `paths.${index}`, message: `there is no page "${path}"` })),
    },
  );
}

/** Throws an `invalid_request` that names the groups to which no page of the content is restricted. Pure. */
export function checkGroupsExist(groups: readonly string[], known: ReadonlySet<string>, contentVersion: string): void {
  const fields = groups.flatMap((group, index) => {
    if (known.has(group)) return [];
    const message = `names "${group}", which no page is restricted to${guessAmong(group, [...known])}`;
    return [{ path: `groups.${index}`, message }];
  });
  const first = fields[0];
  if (first === undefined) return;
  const there = [...known].sort().slice(0, mostGroupsNamed);
  const named = there.map((group) => `"${group}"`).join(', ');
  throw new ApiError(
    'invalid_request',
    `The field "${first.path}" ${first.message}. ${
      there.length === 0
        ? `Content version ${contentVersion} has no restricted pages: leave "groups" out.`
        : `Groups of content version ${contentVersion}: ${named}${known.size > there.length ? ', …' : ''}.`
    }`,
    { fields },
  );
}

const mostGroupsNamed = 20;
