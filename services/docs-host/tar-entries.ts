import { ArchiveRefused, archiveNames } from '#shared/export/bundle/archive-names.ts';

/** Receiver of the files of an archive, in their order. */
export type FileReceiver = {
  begin(path: string, size: number): void;
  bytes(bytes: Uint8Array): Promise<void>;
  end(): Promise<void>;
};

export type TarEntries = ReturnType<typeof tarEntries>;

const blockBytes = 512;
/** Limit of the name in an extended header. */
const mostNameBytes = 16 * 1024;

/**
 * Reads the tar archive of a bundle as its bytes arrive, and reports the position in an entry where they end (`place`). Unlike a general reader it
 * accepts only the entries of our bundles: files, with long names in extended headers of POSIX or GNU. Throws `ArchiveRefused` for anything else.
 */
export function tarEntries(receiver: FileReceiver, mostEntries: number) {
  const names = archiveNames({ portable: true, entries: mostEntries });
  const header = Buffer.alloc(blockBytes);
  let filled = 0;
  let entries = 0;
  /** Remaining bytes of the current entry, and the padding of its last block. */
  let rest = 0;
  let padding = 0;
  /** The extended header that is being read, and the name that it contained. */
  let extended: { type: string; bytes: Buffer[] } | undefined;
  let longName: string | undefined;
  let isFile = false;
  let isOver = false;

  async function beginEntry(): Promise<void> {
    filled = 0;
    if (header.every((byte) => byte === 0)) {
      isOver = true;
      return;
    }
    const size = octal(header.subarray(124, 136));
    checkSum(header);
    const type = String.fromCharCode(header[156] ?? 0);
    rest = size;
    padding = (blockBytes - (size % blockBytes)) % blockBytes;
    if (type === 'x' || type === 'L') {
      if (size > mostNameBytes) throw new ArchiveRefused('a name in the archive is too long');
      extended = { type, bytes: [] };
      return;
    }
    entries += 1;
    if (entries > mostEntries) throw new ArchiveRefused(`the archive has more than ${mostEntries} entries`);
    const name = longName ?? shortName(header);
    longName = undefined;
    const path = names.fileOf({ name, type: type === '0' ? 'file' : null, size });
    if (path === undefined) throw new ArchiveRefused('the archive has a folder');
    isFile = true;
    receiver.begin(path, size);
    if (size === 0) await endEntry();
  }

  async function endEntry(): Promise<void> {
    if (extended !== undefined) {
      const name = nameIn(extended.type, Buffer.concat(extended.bytes));
      // A header of GNU may follow that of POSIX, with the same name.
      longName ??= name;
      extended = undefined;
    } else if (isFile) {
      isFile = false;
      await receiver.end();
    }
  }

  return {
    async write(bytes: Uint8Array): Promise<void> {
      for (let at = 0; at < bytes.length; ) {
        if (isOver) throw new ArchiveRefused('the archive has bytes after its end');
        if (rest > 0) {
          const part = bytes.subarray(at, at + rest);
          at += part.length;
          rest -= part.length;
          if (extended === undefined) await receiver.bytes(part);
          else extended.bytes.push(Buffer.from(part));
          if (rest === 0) await endEntry();
        } else if (padding > 0) {
          const skipped = Math.min(padding, bytes.length - at);
          at += skipped;
          padding -= skipped;
        } else {
          const part = bytes.subarray(at, at + blockBytes - filled);
          header.set(part, filled);
          filled += part.length;
          at += part.length;
          if (filled === blockBytes) await beginEntry();
        }
      }
    },
    /** Passes bytes of the current file that are not read. Throws `ArchiveRefused` unless more of the file follows. */
    skip(bytes: number): void {
      if (!isFile || bytes >= rest) throw new ArchiveRefused('the archive has a part of a file at a place without one');
      rest -= bytes;
    },
    /** Position of the next byte: between two files, inside a file, or elsewhere, such as in a header. */
    place(): 'between' | 'inside' | 'elsewhere' {
      if (isFile && rest > 0) return 'inside';
      const isBetween = !isFile && rest === 0 && padding === 0 && filled === 0 && longName === undefined;
      return isBetween && extended === undefined ? 'between' : 'elsewhere';
    },
  };
}

function octal(field: Buffer): number {
  const text = /^[0-7]+(?=[\0 ]|$)/.exec(field.toString('latin1'))?.[0];
  if (text === undefined) throw new ArchiveRefused('the archive has an entry without a size');
  return Number.parseInt(text, 8);
}

function checkSum(header: Buffer): void {
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  if (sum !== octal(header.subarray(148, 155))) throw new ArchiveRefused('the archive has a damaged entry');
}

const textOf = (field: Buffer): string => field.toString('utf8').replace(/\0.*$/s, '');

function shortName(header: Buffer): string {
  const prefix = textOf(header.subarray(345, 500));
  const name = textOf(header.subarray(0, 100));
  return prefix === '' ? name : `${prefix}/${name}`;
}

function nameIn(type: string, bytes: Buffer): string {
  if (type === 'L') return textOf(bytes);
  const record = /^(\d+) path=(.*)\n$/s.exec(bytes.toString('utf8'));
  if (record === null || Number(record[1]) !== bytes.length)
    throw new ArchiveRefused('the archive has an extended header without a name');
  return record[2] ?? '';
}
