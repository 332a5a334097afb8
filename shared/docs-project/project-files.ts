export type ProjectFile = { path: string; sha256: string; sizeBytes: number };

/** An unpacked docs project: what is in it, and how to get at the bytes of one file. */
export type ProjectFiles = {
  files: readonly ProjectFile[];
  /** Bytes of a file of `files`. Rejects when they cannot be had. */
  read(path: string): Promise<Uint8Array>;
};
