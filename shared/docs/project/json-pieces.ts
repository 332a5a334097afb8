/** Byte offsets of a piece of a JSON text. */
export type JsonPiece = { start: number; end: number };

const code = (character: string): number => character.charCodeAt(0);
const [quote, backslash, comma, colon] = [code('"'), code('\\'), code(','), code(':')];
const [braceOpen, braceClose, bracketOpen, bracketClose] = [code('{'), code('}'), code('['), code(']')];
const isSpace = (byte: number): boolean => byte === 32 || byte === 10 || byte === 13 || byte === 9;

/**
 * Finds the members of a JSON object or the items of an array without parsing them, so that a large text can be parsed piece by piece. The pieces are
 * in order; the piece of a member has its name before it. Throws `SyntaxError` where the text is cut or is not such a value. Mistakes inside a piece
 * are found when it is parsed.
 */
export function* piecesOf(text: Uint8Array, { start, end }: JsonPiece): Generator<JsonPiece & { name?: JsonPiece }> {
  let at = afterSpace(text, start);
  const isObject = text[at] === braceOpen;
  if (!isObject && text[at] !== bracketOpen) throw new SyntaxError(`No object or array begins at byte ${at}.`);
  const last = isObject ? braceClose : bracketClose;
  at = afterSpace(text, at + 1);
  for (let isFirst = true; text[at] !== last || !isFirst; isFirst = false) {
    let name: JsonPiece | undefined;
    if (isObject) {
      name = { start: at, end: endOfValue(text, at) };
      at = afterSpace(text, name.end);
      if (text[at] !== colon) throw new SyntaxError(`A colon is missing at byte ${at}.`);
      at = afterSpace(text, at + 1);
    }
    const piece = { start: at, end: endOfValue(text, at) };
    yield name === undefined ? piece : { ...piece, name };
    at = afterSpace(text, piece.end);
    if (text[at] === last) break;
    if (text[at] !== comma) throw new SyntaxError(`A comma is missing at byte ${at}.`);
    at = afterSpace(text, at + 1);
  }
  if (at >= end || afterSpace(text, at + 1) < end) throw new SyntaxError(`The text does not end at byte ${at}.`);
}

/** Parses one piece. Throws `SyntaxError`. */
export const parsePiece = (text: Uint8Array, { start, end }: JsonPiece): unknown =>
  JSON.parse(Buffer.from(text.buffer, text.byteOffset + start, end - start).toString('utf8'));

function afterSpace(text: Uint8Array, start: number): number {
  let at = start;
  while (isSpace(text[at] ?? 0)) at += 1;
  return at;
}

function endOfValue(text: Uint8Array, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const byte = text[at] ?? 0;
    if (byte === quote) at = endOfString(text, at) - 1;
    else if (byte === braceOpen || byte === bracketOpen) depth += 1;
    else if (byte === braceClose || byte === bracketClose) depth -= 1;
    if (depth < 0) return at;
    if (depth > 0) continue;
    if (byte === quote || byte === braceClose || byte === bracketClose) return at + 1;
    if (byte === comma || byte === colon || isSpace(byte)) return at;
  }
  throw new SyntaxError('The text is cut.');
}

function endOfString(text: Uint8Array, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === backslash) at += 1;
    else if (text[at] === quote) return at + 1;
  }
  throw new SyntaxError('The text is cut.');
}
