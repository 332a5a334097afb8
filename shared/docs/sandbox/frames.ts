import { randomInt } from 'node:crypto';

/*
 * Format of the messages between a service and its children on the pipe. A frame is two lengths of four bytes each, JSON, and bytes. The JSON is
 * `[message, places]`: the message with null in place of bytes, and for each of those its path in the message and its length. So bytes are neither
 * copied into text nor parsed. Only `JSON.parse` reads a child's message, because `v8.deserialize` trusts its input, and Node's own channel acts on
 * some messages.
 */

/** An invalid message of a child. The error's message completes a sentence, and starts with "it". */
export class Misfit extends Error {
  override name = 'Misfit';
}

/** Maximum size of a frame from the other side. */
export type FrameLimits = {
  jsonBytes: number;
  /** All bytes after the JSON. */
  bytes: number;
  /** Values in the JSON. An empty list takes 3 bytes there, and 30 in memory. */
  values: number;
  /** Different names in the JSON. V8 keeps each in a table and describes each new shape of an object: a million names take two seconds. */
  names: number;
};

const lengthBytes = 4;
const prefixBytes = 2 * lengthBytes;
/** Maximum depth of nested lists and objects. Deeper ones would overflow the stack of recursive code. */
const mostDepth = 500;

type Place = [path: string[], length: number];

/** The frame of a message, to be written piece by piece. Throws for a value that JSON does not keep, such as a `Map`. */
export function frameOf(message: object): Uint8Array[] {
  const places: Place[] = [];
  const bytes: Uint8Array[] = [];
  const found = (path: Place[0], at: Uint8Array): void => {
    places.push([[...path], at.length]);
    bytes.push(at);
  };
  const json = Buffer.from(JSON.stringify([withoutBytes(message, [], found), places]));
  const prefix = Buffer.allocUnsafe(prefixBytes);
  prefix.writeUInt32BE(json.length, 0);
  prefix.writeUInt32BE(
    bytes.reduce((sum, { length }) => sum + length, 0),
    lengthBytes,
  );
  return [prefix, json, ...bytes.filter(({ length }) => length > 0)];
}

/** Returns the same value, or, if it has bytes inside, a copy with null in their places. */
function withoutBytes(
  value: object,
  path: Place[0],
  found: (path: Place[0], bytes: Uint8Array) => void,
): object | null {
  if (value instanceof Uint8Array) {
    found(path, value);
    return null;
  }
  const isList = Array.isArray(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!isList && prototype !== Object.prototype && prototype !== null) {
    throw new TypeError(`a message has a ${value.constructor.name} at ${path.join('.')}, which JSON does not keep`);
  }
  const properties = value as Record<string, unknown>;
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(properties)) {
    const inner = properties[key];
    // Most values are primitive, and a site has a million of them.
    if (typeof inner !== 'object' || inner === null) continue;
    path.push(key);
    const kept = withoutBytes(inner, path, found);
    path.pop();
    if (kept === inner) continue;
    copy ??= (isList ? [...value] : { ...value }) as Record<string, unknown>;
    copy[key] = kept;
  }
  return copy ?? value;
}

/**
 * Reads frames from the pieces in which they arrive. Memory grows with the received bytes, never with the size that a prefix claims. Throws `Misfit`,
 * and errors of `onMessage`.
 */
export function frameReader(limits: FrameLimits, onMessage: (message: unknown) => void): (piece: Buffer) => void {
  let held: Buffer = Buffer.alloc(0);
  let filled = 0;
  /** Undefined while the prefix is read. */
  let sizes: { json: number; bytes: number } | undefined;

  function take(part: Buffer): void {
    if (sizes === undefined) {
      sizes = sizesIn(part, limits);
      return;
    }
    const json = part.subarray(0, sizes.json);
    const bytes = part.subarray(sizes.json);
    // The message has views of the old buffer.
    held = Buffer.alloc(0);
    sizes = undefined;
    onMessage(messageIn(json, bytes, limits));
  }

  return (piece) => {
    for (let at = 0; at < piece.length; ) {
      const wanted = sizes === undefined ? prefixBytes : sizes.json + sizes.bytes;
      const taken = Math.min(wanted - filled, piece.length - at);
      const fresh = piece.subarray(at, at + taken);
      at += taken;
      if (filled === 0 && taken === wanted) {
        take(fresh);
        continue;
      }
      held = withRoom(held, filled, taken, wanted);
      held.set(fresh, filled);
      filled += taken;
      if (filled < wanted) continue;
      filled = 0;
      take(held.subarray(0, wanted));
    }
  };
}

/** Doubles the buffer when it is full: pieces may be one byte each, and a list of millions of them would take a hundred times their size. */
function withRoom(held: Buffer, filled: number, more: number, wanted: number): Buffer {
  if (held.length >= filled + more) return held;
  const larger = Buffer.allocUnsafeSlow(Math.max(filled + more, Math.min(wanted, held.length * 2)));
  larger.set(held.subarray(0, filled));
  return larger;
}

function sizesIn(prefix: Buffer, limits: FrameLimits): { json: number; bytes: number } {
  const json = prefix.readUInt32BE(0);
  const bytes = prefix.readUInt32BE(lengthBytes);
  if (json === 0) throw new Misfit('it sent a frame without a message');
  if (json > limits.jsonBytes || bytes > limits.bytes) {
    throw new Misfit(
      `it sent a message of ${json} and ${bytes} bytes, more than ${limits.jsonBytes} and ${limits.bytes}`,
    );
  }
  return { json, bytes };
}

function messageIn(json: Buffer, bytes: Buffer, limits: FrameLimits): unknown {
  const parsed = parseJson(json, limits);
  if (!Array.isArray(parsed) || parsed.length !== 2) throw new Misfit('it sent a message with an invalid form');
  const [message, places] = parsed as unknown[];
  if (!Array.isArray(places)) throw new Misfit('it sent a message with an invalid form');
  let at = 0;
  for (const place of places as unknown[]) {
    if (!isPlace(place)) throw new Misfit('it sent bytes without their place');
    const [path, length] = place;
    if (at + length > bytes.length) throw new Misfit('it named more bytes than it sent');
    put(message, path, new Uint8Array(bytes.buffer, bytes.byteOffset + at, length));
    at += length;
  }
  if (at !== bytes.length) throw new Misfit('it sent bytes without their place');
  return message;
}

/** Parses JSON of a child, also from inside its bytes. Throws `Misfit`. */
export function parseJson(json: Uint8Array, limits: Pick<FrameLimits, 'values' | 'names'>): unknown {
  checkShape(json, limits);
  try {
    return JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.length).toString());
  } catch {
    throw new Misfit('it sent a message that is not JSON');
  }
}

const isPlace = (place: unknown): place is Place =>
  Array.isArray(place) &&
  place.length === 2 &&
  Array.isArray(place[0]) &&
  place[0].length > 0 &&
  place[0].every((key) => typeof key === 'string') &&
  Number.isSafeInteger(place[1]) &&
  place[1] >= 0;

/** Follows only own properties, and replaces only null, so that no path leads to a prototype. */
function put(message: unknown, path: Place[0], bytes: Uint8Array): void {
  let holder = message;
  let placed = false;
  for (const [at, key] of path.entries()) {
    if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, key)) break;
    const properties = holder as Record<string, unknown>;
    if (at < path.length - 1) holder = properties[key];
    else if (properties[key] === null) {
      properties[key] = bytes;
      placed = true;
    }
  }
  if (!placed) throw new Misfit('it sent bytes for a place that does not exist');
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const [openList, openObject] = [0x5b, 0x7b];
const [closeList, closeObject] = [0x5d, 0x7d];

/** Bytes of the shortest field of an object, `"":0,`. A shorter message cannot have too many names. */
const shortestField = 5;
/** Number of hashes among which different names are counted. Some names share a hash, so a few more than the limit may pass. */
const nameHashes = 2 ** 22;
/** Factor of the hash of names. It is odd and random, so that nobody can choose names with the same hash. */
const nameFactor = randomInt(2 ** 30) * 2 + 1;

/** Bounds depth, number of values and number of different names before parsing. Takes some milliseconds for a megabyte. */
function checkShape(json: Uint8Array, most: Pick<FrameLimits, 'values' | 'names'>): void {
  let depth = 0;
  let values = 0;
  let names = 0;
  let inText = false;
  /** Hash of the last text. */
  let textHash = 0;
  const seen = json.length > most.names * shortestField ? new Uint8Array(nameHashes) : undefined;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at] as number;
    if (inText) {
      textHash = (Math.imul(textHash, nameFactor) + byte) | 0;
      if (byte === backslash) {
        at += 1;
        textHash = (Math.imul(textHash, nameFactor) + (json[at] ?? 0)) | 0;
      } else if (byte === quote) inText = false;
    } else if (byte === quote) {
      inText = true;
      textHash = 1;
    } else if (byte === comma) values += 1;
    else if (byte === colon && seen !== undefined) {
      const place = (textHash ^ (textHash >>> 16)) & (nameHashes - 1);
      if (seen[place] === 0) names += 1;
      seen[place] = 1;
    } else if (byte === openList || byte === openObject) {
      depth += 1;
      values += 1;
      if (depth > mostDepth) throw new Misfit(`it sent a message with more than ${mostDepth} levels`);
    } else if (byte === closeList || byte === closeObject) depth -= 1;
  }
  if (values > most.values) throw new Misfit(`it sent a message with more than ${most.values} values`);
  if (names > most.names) throw new Misfit(`it sent a message with more than ${most.names} different names`);
}
