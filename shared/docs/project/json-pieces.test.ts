import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePiece, piecesOf } from './json-pieces.ts';

/** The value that the pieces of a text form, as `JSON.parse` would return it. */
function together(text: string): unknown {
  const bytes = Buffer.from(text);
  const pieces = [...piecesOf(bytes, { start: 0, end: bytes.length })];
  if (pieces.every(({ name }) => name === undefined) && text.trimStart().startsWith('['))
    return pieces.map((piece) => parsePiece(bytes, piece));
  return Object.fromEntries(
    pieces.map((piece) => [parsePiece(bytes, piece.name ?? { start: 0, end: 0 }), parsePiece(bytes, piece)]),
  );
}

test('the pieces of any object or array are its parts, however it is written', () => {
  const value = fc.oneof(
    fc.array(fc.jsonValue()),
    fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }),
  );
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 1, '\t'), (each, indent) => {
      const text = JSON.stringify(each, null, indent);
      expect(together(text)).toEqual(JSON.parse(text));
    }),
  );
});

test('a text that JSON refuses is refused, or one of its pieces', () => {
  const piece = fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '"a"', '1', 'null', ' ', '\\', '{"a":1}');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = pieces.join('');
      let parsed: unknown;
      try {
        parsed = JSON.parse(text);
      } catch {
        expect(() => together(text)).toThrow(SyntaxError);
        return;
      }
      if (typeof parsed === 'object' && parsed !== null) expect(together(text)).toEqual(parsed);
    }),
    { numRuns: 3_000 },
  );
});
