import { ApiError } from '#shared/errors/api-error.ts';
import { pagePathOf } from './requested-export.ts';

const mostNamed = 20;

/** Throws `invalid_request` that names the paths which are no pages of the content. Pure. */
export function checkPaths(paths: readonly string[], pages: ReadonlySet<string>, contentVersion: string): void {
  const unknown = paths.flatMap((path, index) => (pages.has(pagePathOf(path)) ? [] : [{ path, index }]));
  const first = unknown[0];
  if (first === undefined) return;
  const rest = unknown.length === 1 ? '' : `, and ${unknown.length - 1} more`;
  throw new ApiError(
    'invalid_request',
    `There is no page "${first.path}" in content version ${contentVersion}${rest}. Paths are as in the site's addresses, such as "guides/x".`,
    {
      fields: unknown
        .slice(0, mostNamed)
        .map(({ path, index }) => ({ path: `paths.${index}`, message: `there is no page "${path}"` })),
    },
  );
}
