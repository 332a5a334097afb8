import { archivePathProblem } from './archive-names.ts';

const blockBytes = 512;
/** Eleven octal digits: 8 GiB. */
const maxBytes = 8 ** 11;
/** 1980-02-01 UTC, which every tool accepts. GNU tar warns about 0, and zip tools refuse times before 1980 in any time zone. */
const modifiedAtSeconds = 318_211_200;
const nameBytes = 100;
const prefixBytes = 155;

/** Two blocks of zeros end an archive. */
export const tarTrailer: Uint8Array = new Uint8Array(2 * blockBytes);

/**
 * The header before a file's bytes in a tar archive. The same path and size give the same bytes: mode 0644, owner 0, one fixed time. A path that
 * plain ustar cannot hold gets a PAX header. Busybox skips those, so the ustar fields contain the UTF-8 bytes if they fit, and a GNU long name
 * precedes them otherwise. Throws for a path that is not allowed in our archives.
 */
export function tarHeader(path: string, size: number): Uint8Array {
  const problem = archivePathProblem(path);
  if (problem !== undefined) throw new Error(`the path ${JSON.stringify(path)} ${problem}: it cannot be in a bundle`);
  if (!Number.isSafeInteger(size) || size < 0 || size >= maxBytes) {
    throw new RangeError(`${path}: ${size} bytes cannot be in a bundle, a file must be smaller than 8 GiB`);
  }
  const bytes = Buffer.from(path);
  const split = splitPath(bytes);
  const headers: Uint8Array[] = [];
  if (split === undefined || bytes.length !== path.length) {
    headers.push(...extension('x', 'PaxHeader', Buffer.from(paxRecord('path', path))));
  }
  if (split === undefined) headers.push(...extension('L', '././@LongLink', Buffer.from(`${path}\0`)));
  const fields = split ?? { prefix: Buffer.alloc(0), name: bytes.subarray(0, nameBytes) };
  headers.push(headerBlock({ ...fields, size, type: '0' }));
  return Buffer.concat(headers);
}

/** Zeros that fill a file's last block. */
export function tarPadding(size: number): Uint8Array {
  const rest = size % blockBytes;
  return new Uint8Array(rest === 0 ? 0 : blockBytes - rest);
}

/** Splits at the first slash that leaves a short enough name. Undefined if the path does not fit the two fields of ustar. */
function splitPath(path: Buffer): { prefix: Buffer; name: Buffer } | undefined {
  if (path.length <= nameBytes) return { prefix: Buffer.alloc(0), name: path };
  const slash = path.indexOf('/', path.length - nameBytes - 1);
  if (slash < 1 || slash > prefixBytes) return undefined;
  return { prefix: path.subarray(0, slash), name: path.subarray(slash + 1) };
}

function extension(type: string, name: string, body: Buffer): Uint8Array[] {
  return [
    headerBlock({ prefix: Buffer.alloc(0), name: Buffer.from(name), size: body.length, type }),
    body,
    tarPadding(body.length),
  ];
}

/** `<length> <key>=<value>\n`, where the length counts its own digits (POSIX, pax). */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const restLength = Buffer.byteLength(rest);
  let length = restLength + 1;
  while (String(length).length + restLength !== length) length = String(length).length + restLength;
  return `${length}${rest}`;
}

type HeaderFields = { prefix: Uint8Array; name: Uint8Array; size: number; type: string };

function headerBlock({ prefix, name, size, type }: HeaderFields): Uint8Array {
  const block = Buffer.allocUnsafe(blockBytes).fill(0);
  block.set(name, 0);
  block.write('0000644\0', 100);
  block.write('0000000\0', 108);
  block.write('0000000\0', 116);
  block.write(`${octal(size, 11)}\0`, 124);
  block.write(`${octal(modifiedAtSeconds, 11)}\0`, 136);
  block.write('        ', 148);
  block.write(type, 156);
  block.write('ustar\x0000', 257);
  block.write('0000000\0', 329);
  block.write('0000000\0', 337);
  block.set(prefix, 345);
  const checksum = block.reduce((sum, byte) => sum + byte, 0);
  block.write(`${octal(checksum, 6)}\0 `, 148);
  return block;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}
