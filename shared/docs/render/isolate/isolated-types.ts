/* Which files are isolated. Services ask this without loading the parsers that isolate them. */

/** Limit of the size of isolated files. Larger ones are replaced by a placeholder. */
export const maxIsolatedBytes = 4 * 1024 * 1024;

const types = ['svg', 'css', 'xml'] as const;

export type IsolatedType = (typeof types)[number];

/** The type of a file by its path; undefined for types that are not isolated. */
export function isolatedTypeOf(path: string): IsolatedType | undefined {
  const extension = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase();
  return types.find((type) => type === extension);
}

/** True for file types that can run scripts or change the page's frame. These are rewritten where the project's scripts are not allowed. */
export const isIsolated = (path: string): boolean => isolatedTypeOf(path) !== undefined;
