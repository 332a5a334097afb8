import { closeSync, openSync, readSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';

/*
 * SQLite detects invalid structures, but has no checksums: a changed letter of a text or of a group stays undetected. So a complete file
 * has a checksum of all its bytes, in the four bytes of its header that are reserved for the application (`application_id`).
 */
const sealAt = 68;
const sealBytes = 4;
const chunkBytes = 1 << 20;

/** Writes the checksum of a file that is complete. Nothing may be written to it after that. */
export async function sealFile(handle: FileHandle): Promise<void> {
  const checksum = new Checksum();
  const chunk = Buffer.alloc(chunkBytes);
  for (let at = 0; ; ) {
    const { bytesRead } = await handle.read(chunk, 0, chunkBytes, at);
    if (bytesRead === 0) break;
    checksum.add(chunk.subarray(0, bytesRead), at);
    at += bytesRead;
  }
  const seal = Buffer.alloc(sealBytes);
  seal.writeUInt32BE(checksum.value);
  await handle.write(seal, 0, sealBytes, sealAt);
}

/** True if every byte of a file is unchanged since it was sealed; undefined when it never was. Reads the whole file. Throws as `openSync`. */
export function isSealWhole(file: string): boolean | undefined {
  const checksum = new Checksum();
  const chunk = Buffer.alloc(chunkBytes);
  const opened = openSync(file, 'r');
  try {
    let seal = 0;
    for (let at = 0; ; ) {
      const bytesRead = readSync(opened, chunk, 0, chunkBytes, at);
      if (bytesRead === 0) return seal === checksum.value;
      if (at === 0 && bytesRead >= sealAt + sealBytes) {
        seal = chunk.readUInt32BE(sealAt);
        if (seal === 0) return undefined;
      }
      checksum.add(chunk.subarray(0, bytesRead), at);
      at += bytesRead;
    }
  } finally {
    closeSync(opened);
  }
}

class Checksum {
  #crc = 0;

  /** Adds the next bytes of the file. The bytes of the checksum itself count as zero, and are set to it. */
  add(bytes: Buffer, at: number): void {
    if (at === 0) bytes.fill(0, sealAt, Math.min(bytes.length, sealAt + sealBytes));
    this.#crc = crc32(bytes, this.#crc);
  }

  /** The checksum, which is never 0, because files without one have 0 there. */
  get value(): number {
    return this.#crc === 0 ? 1 : this.#crc;
  }
}
