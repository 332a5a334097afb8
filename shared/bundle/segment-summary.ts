/** One file inside a segment: its path in the archive, size in bytes, SHA-256 of its bytes as 64 hex digits. */
export type SegmentFile = { path: string; size: number; sha256: string };

/** What is known about a segment once it is packed: the base of its sidecar. */
export type SegmentSummary = {
  /** Of the packed bytes, 64 hex digits. */
  sha256: string;
  /** Of the unpacked tar bytes, unsigned. */
  crc32: number;
  /** Unpacked tar bytes. */
  rawLength: number;
  /** Packed bytes. */
  sizeBytes: number;
  /** In the order they were added. */
  files: SegmentFile[];
};
