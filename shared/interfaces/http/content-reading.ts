import { z } from 'zod';
import { diagnosticSchema } from '#shared/contracts/diagnostic.ts';
import { contentVersion, domainSlug } from '#shared/contracts/identifiers.ts';

const count = z.int().min(0);
const listCursor = z
  .string()
  .regex(/^[0-9]{1,9}$/, 'must be the "nextCursor" of an earlier answer')
  .optional();

const changeKinds = ['added', 'removed', 'changed'] as const;

/** Query of `GET …/content/{contentVersion}/changes`. */
export const contentChangesQuerySchema = z.strictObject({
  /** The content version that the other one is compared with. */
  from: contentVersion,
  cursor: listCursor,
  limit: z.coerce.number().int().min(1).max(1_000).default(200),
});

export type ContentChangesQuery = z.infer<typeof contentChangesQuerySchema>;

/** Answer of `GET …/content/{contentVersion}/changes`: pages by path, then other files by path. */
export const contentChangesSchema = z
  .object({
    domain: domainSlug,
    contentVersion,
    from: contentVersion,
    /** Numbers of pages, and of all other files that were added, removed or changed. */
    summary: z.object({ added: count, removed: count, changed: count, unchanged: count, otherFiles: count }),
    changes: z.array(
      z.object({
        /** `page`: its source differs. A page also differs when a file that it uses does, which is listed as `file`. */
        kind: z.enum(['page', 'file']),
        /** Path of the page as readers know it, or of the file in the project. */
        path: z.string(),
        title: z.string().optional(),
        change: z.enum(changeKinds),
      }),
    ),
    nextCursor: z.string().optional(),
  })
  .meta({ title: 'ContentChanges' });

export type ContentChanges = z.infer<typeof contentChangesSchema>;

const path = z.string().min(1).max(1024);

/** Query of `GET …/content/{contentVersion}/source`: a page by its path, or a file of the project. */
export const contentSourceQuerySchema = z
  .strictObject({
    /** Path of a page, with or without a leading slash. */
    page: path.optional(),
    /** Path of a file in the project. */
    file: path.optional(),
    /** Another content version, whose text is in `before`. */
    from: contentVersion.optional(),
  })
  .refine(({ page, file }) => (page === undefined) !== (file === undefined), {
    path: ['page'],
    message: 'is needed, or "file" instead of it',
  });

export type ContentSourceQuery = z.infer<typeof contentSourceQuerySchema>;

const sourceSchema = z.object({
  /** Path in the project. */
  file: z.string(),
  title: z.string().optional(),
  sizeBytes: count,
  /** Absent if the file is no text, has more than a megabyte, or was not kept. */
  text: z.string().optional(),
});

/** Answer of `GET …/content/{contentVersion}/source`. */
export const contentSourceSchema = z
  .object({
    domain: domainSlug,
    contentVersion,
    from: contentVersion.optional(),
    /** Absent if only the content version `from` has it. */
    source: sourceSchema.optional(),
    /** The same page or file in the content version `from`. */
    before: sourceSchema.optional(),
  })
  .meta({ title: 'ContentSource' });

export type ContentSource = z.infer<typeof contentSourceSchema>;

/** Query of `GET …/content/{contentVersion}/diagnostics`. */
export const contentDiagnosticsQuerySchema = z.strictObject({
  severity: diagnosticSchema.shape.severity.optional(),
  cursor: listCursor,
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

export type ContentDiagnosticsQuery = z.infer<typeof contentDiagnosticsQuerySchema>;

/** Answer of `GET …/content/{contentVersion}/diagnostics`: findings of the publication, by file and line. */
export const contentDiagnosticsSchema = z
  .object({
    domain: domainSlug,
    contentVersion,
    /** Numbers of all findings. */
    summary: z.object({ errors: count, warnings: count, infos: count }),
    diagnostics: z.array(
      diagnosticSchema.extend({
        /** The line of the file, shortened to 300 characters. */
        excerpt: z.string().optional(),
      }),
    ),
    nextCursor: z.string().optional(),
  })
  .meta({ title: 'ContentDiagnostics' });

export type ContentDiagnostics = z.infer<typeof contentDiagnosticsSchema>;
