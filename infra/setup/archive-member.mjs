import { gunzipSync, inflateRawSync } from 'node:zlib';

const tarBlock = 512;

/** The bytes of the first file of a tar.gz whose path ends with `/name`, or undefined. Only for archives whose digest is pinned. */
export function tarGzMember(archive, name) {
  const tar = gunzipSync(archive);
  for (let at = 0; at + tarBlock <= tar.length; ) {
    const path = text(tar, at, 100);
    const size = Number.parseInt(text(tar, at + 124, 12) || '0', 8);
    const begin = at + tarBlock;
    if (path.endsWith(`/${name}`)) return tar.subarray(begin, begin + size);
    at = begin + Math.ceil(size / tarBlock) * tarBlock;
  }
  return undefined;
}

/** The bytes of the first file of a zip whose path ends with `/name`, or undefined. Only for archives whose digest is pinned. */
export function zipMember(archive, name) {
  const end = archive.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  const count = archive.readUInt16LE(end + 10);
  let at = archive.readUInt32LE(end + 16);
  for (let entry = 0; entry < count; entry += 1) {
    const method = archive.readUInt16LE(at + 10);
    const size = archive.readUInt32LE(at + 20);
    const nameLength = archive.readUInt16LE(at + 28);
    const path = archive.toString('utf8', at + 46, at + 46 + nameLength);
    if (path.endsWith(`/${name}`)) {
      const header = archive.readUInt32LE(at + 42);
      const begin = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
      const bytes = archive.subarray(begin, begin + size);
      return method === 0 ? bytes : inflateRawSync(bytes);
    }
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return undefined;
}

function text(buffer, from, length) {
  return buffer
    .toString('latin1', from, from + length)
    .replace(/\0.*$/s, '')
    .trim();
}
