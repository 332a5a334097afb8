import { z } from 'zod';

/** The place in a repository that a publication was made from, as the caller says. All fields are optional, and short, because states contain them. */
export const publicationSourceSchema = z
  .object({
    commit: z
      .string()
      .regex(/^[0-9a-f]{7,64}$/, 'must be a commit: 7 to 64 hex digits')
      .optional(),
    branch: z
      .string()
      .regex(/^[^\p{C}\p{Zl}\p{Zp}]{1,200}$/u, 'must be a branch: 1 to 200 printable characters')
      .optional(),
    /** Number of the pull request or merge request. */
    pullRequest: z.int().min(1).max(999_999_999).optional(),
  })
  .meta({ title: 'PublicationSource' });

export type PublicationSource = z.infer<typeof publicationSourceSchema>;

/** The same fields in a query. */
export const publicationSourceQuery = {
  ...publicationSourceSchema.shape,
  pullRequest: z.coerce.number().int().min(1).max(999_999_999).optional(),
};

/** The source among other fields of a query; undefined if it has none. Pure. */
export function sourceIn({ commit, branch, pullRequest }: PublicationSource): PublicationSource | undefined {
  const source = {
    ...(commit !== undefined && { commit }),
    ...(branch !== undefined && { branch }),
    ...(pullRequest !== undefined && { pullRequest }),
  };
  return Object.keys(source).length === 0 ? undefined : source;
}

/** A source in words, such as "pull request 12, main at 0f1e2d3". Pure. */
export function sourceWords({ commit, branch, pullRequest }: PublicationSource): string {
  const at = [branch, commit?.slice(0, 7)].filter((each) => each !== undefined).join(' at ');
  return [pullRequest === undefined ? '' : `pull request ${pullRequest}`, at].filter((each) => each !== '').join(', ');
}
