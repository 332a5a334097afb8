import { z } from 'zod';

export const deploymentTypes = ['cloud', 'client-hosted', 'air-gapped'] as const;

/** The options of an export that its requester chose. `paths` themselves are in the object `selectionKey` names; absent: all pages. */
export const exportOptionsSchema = z.object({
  selectionKey: z.string().optional(),
  groups: z.array(z.string()),
  deployment: z.enum(deploymentTypes),
  onPageError: z.enum(['fail', 'report']),
  allowTenantScripts: z.boolean(),
});

export type ExportOptions = z.infer<typeof exportOptionsSchema>;
