export type ProjectFile = { path: string; sha256: string; sizeBytes: number };

/** An unpacked docs project: what is in it, and how to get at the bytes of one file. */
export type ProjectFiles = {
  files: readonly ProjectFile[];
  /** The first `maxBytes` of a file of `files`, or more of it. Rejects when they cannot be had. */
  read(path: string, maxBytes: number): Promise<Uint8Array>;
};
