import { ArchiveRefused } from './archive-refused.ts';

/** What an archive may cost whoever reads it. */
export type ArchiveBudgets = {
  packedBytes: number;
  /** Of the tar archive, with its headers. */
  unpackedBytes: number;
  /** Entries of any kind. */
  entries: number;
  /** Unpacked by packed bytes, looked at from 16 MiB on; text packs 3 to 30 times, zeros 1,000 times. */
  ratio: number;
};

/** Below this a high ratio harms nobody: a small project of much the same pages has one. */
const RATIO_FROM_BYTES = 16 * 1024 * 1024;

/** Counts against the budgets; each call throws `ArchiveRefused` when one is used up. */
export function archiveMeter(budgets: ArchiveBudgets) {
  let packed = 0;
  let unpacked = 0;
  let entries = 0;
  return {
    packed(bytes: number): void {
      packed += bytes;
      if (packed > budgets.packedBytes)
        throw new ArchiveRefused(`the archive is larger than ${size(budgets.packedBytes)}`);
    },
    unpacked(bytes: number): void {
      unpacked += bytes;
      if (unpacked > budgets.unpackedBytes) {
        throw new ArchiveRefused(`the archive unpacks to more than ${size(budgets.unpackedBytes)}`);
      }
      if (unpacked > RATIO_FROM_BYTES && unpacked > packed * budgets.ratio) {
        throw new ArchiveRefused(`the archive unpacks to more than ${budgets.ratio} times its size`);
      }
    },
    entry(): void {
      entries += 1;
      if (entries > budgets.entries) throw new ArchiveRefused(`the archive has more than ${budgets.entries} entries`);
    },
    isEmpty: () => packed === 0,
  };
}

function size(bytes: number): string {
  return bytes >= 1_000_000 ? `${bytes / 1_000_000} MB` : `${bytes} bytes`;
}
