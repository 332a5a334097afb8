import { z } from 'zod';

/** Where the manifest is, below the bundle's one top folder. */
export const manifestPath = '_bindery/manifest.json';

/** Files that the manifest does not list: itself, and the one that may be edited after the export. */
export const unlistedPaths: readonly string[] = [manifestPath, '_bindery/config.js'];

/** What verifying needs of a manifest; the rest of it may say more. Paths are below the top folder. */
export const bundleManifestSchema = z.looseObject({
  files: z.array(z.object({ path: z.string(), size: z.int().min(0), sha256: z.string() })),
});

export type BundleManifest = z.infer<typeof bundleManifestSchema>;
