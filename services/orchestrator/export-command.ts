import type { Fact } from '#shared/contracts/export-facts.ts';

export type ExportCommand =
  | { type: 'Plan'; planHash: string; rendererVersion: string; chunkCount: number; pageTotal: number }
  | { type: 'FoldFacts'; facts: readonly Fact[] }
  | { type: 'TimeOutChunk'; chunk: number; attempt: number }
  | { type: 'TimeOutClosing'; attempt: number }
  | { type: 'TimeOutBundle'; attempt: number }
  | { type: 'Fail'; error: string };

/** What a decision needs beside the state. */
export type Knowledge = {
  /** Page paths of a chunk; empty for the site's own files. Needed when `needsPlan` says so. */
  pagesOf?: (chunk: number) => readonly string[];
  /** How the job that this one replays ended. */
  original?: { sha256: string | undefined; rendererVersion: string | undefined };
};
