import { expect, test } from 'vitest';
import { pictureSize } from './picture-size.ts';

const bytes = (...parts: (string | readonly number[])[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))));
const [word, long] = [
  (n: number) => [n >> 8, n & 255],
  (n: number) => [n >>> 24, (n >> 16) & 255, (n >> 8) & 255, n & 255],
];
const box = (name: string, ...content: (string | readonly number[])[]): string => {
  const inner = bytes(...content);
  return Buffer.concat([bytes(long(inner.length + 8), name), inner]).toString('latin1');
};
const frame = bytes([0xff, 0xc2, 0, 17, 8], word(300), word(400), [3]);
const exif = (turn: number) => {
  const tiff = bytes('MM\0*', long(8), word(1), word(0x0112), word(3), long(1), word(turn), word(0), long(0));
  return bytes([0xff, 0xe1], word(tiff.length + 8), 'Exif\0\0', [...tiff]);
};
const avif = (...properties: string[]) =>
  bytes(
    box('ftyp', 'avif\0\0\0\0avifmif1'),
    box('meta', long(0), box('hdlr', 'x'), box('iprp', box('ipco', ...properties))),
  );
const ispe = (width: number, height: number) => box('ispe', long(0), long(width), long(height));

test.each<[string, Uint8Array, ReturnType<typeof pictureSize>]>([
  ['PNG', bytes('\x89PNG\r\n\x1a\n', long(13), 'IHDR', long(640), long(480)), { width: 640, height: 480 }],
  ['GIF', bytes('GIF89a', [10, 0, 20, 1]), { width: 10, height: 276 }],
  ['JPEG', bytes([0xff, 0xd8, 0xff, 0xe0], word(4), [0, 0], [...frame]), { width: 400, height: 300 }],
  ['JPEG of a turned camera', bytes([0xff, 0xd8], [...exif(6)], [...frame]), { width: 300, height: 400 }],
  ['JPEG of a camera upside down', bytes([0xff, 0xd8], [...exif(3)], [...frame]), { width: 400, height: 300 }],
  ['lossy WebP', bytes('RIFF....WEBPVP8 ....', [0, 0, 0, 0x9d, 1, 0x2a, 100, 0, 50, 0]), { width: 100, height: 50 }],
  ['lossless WebP', bytes('RIFF....WEBPVP8L....', [0x2f, 99, 0x40, 12, 0]), { width: 100, height: 50 }],
  ['extended WebP', bytes('RIFF....WEBPVP8X....', [0, 0, 0, 0, 99, 0, 0, 49, 0, 0]), { width: 100, height: 50 }],
  ['AVIF', avif(ispe(32, 16)), { width: 32, height: 16 }],
  ['AVIF of tiles', avif(ispe(512, 512), ispe(1000, 700)), { width: 1000, height: 700 }],
  ['turned AVIF', avif(ispe(32, 16), box('irot', [1])), { width: 16, height: 32 }],
  [
    'SVG',
    bytes('<?xml version="1.0"?>\n<!-- <svg width="1" height="1"> -->\n<svg width="24px" height=\'1in\'>'),
    { width: 24, height: 96 },
  ],
  [
    'SVG with a document type',
    bytes('<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="x" viewBox="0 0 300 150" width="600">'),
    { width: 600, height: 300 },
  ],
  ['SVG without a size', bytes('<svg viewBox="0,0,24,12" width="100%">'), { width: 1000, height: 500, fills: true }],
  ['no picture', bytes('hello, this is text'), undefined],
  ['HTML with a drawing', bytes('<html><svg width="1" height="1">'), undefined],
  ['a size of nothing', bytes('GIF89a', [0, 0, 20, 1]), undefined],
  ['a size beyond reason', bytes('\x89PNG\r\n\x1a\n', long(13), 'IHDR', long(2 ** 30), long(1)), undefined],
  ['SVG of nothing', bytes('<svg viewBox="0 0 0 5">'), undefined],
])('%s', (_name, file, size) => {
  expect(pictureSize(file)).toEqual(size);
  // A file cut at any length causes no error.
  for (let end = 0; end < file.length; end += 1) pictureSize(file.subarray(0, end));
});

const size = 256 * 1024;
const repeated = (text: string) => Buffer.from(text.repeat(Math.ceil(size / text.length)).slice(0, size), 'latin1');

test.each([
  ['segments of no length', bytes([0xff, 0xd8], [...repeated('\xff\xe0\0\0')])],
  ['fill bytes', bytes([0xff, 0xd8], [...repeated('\xff')])],
  [
    'an Exif directory of many entries',
    bytes([0xff, 0xd8], [...repeated('\xff\xe1\xff\xffExif\0\0MM\0*\0\0\0\x08\xff\xff')]),
  ],
  ['boxes in themselves', bytes(box('ftyp', 'avif'), [...repeated('\0\0\0\x08meta')])],
  ['nested boxes', bytes(box('ftyp', 'avif'), [...repeated('\0\0\0\0iprp')])],
  ['boxes of no length', bytes(box('ftyp', 'avif'), [...repeated('\0\0\0\0')])],
  ['many roots', repeated('<svg ')],
  ['many spaces', repeated('<svg          ')],
  ['many comments', repeated('<!---->')],
  ['comments that do not end', repeated('<!--')],
  ['attributes that do not end', bytes('<svg ', [...repeated('a= ')])],
  ['a name that does not end', bytes('<svg ', [...repeated('a')])],
  ['a long number', bytes('<svg width="', [...repeated('1')], '" height="1">')],
])('bytes that are made to waste time are handled quickly: %s', (_name, file) => {
  expect(pictureSize(file)).toBeUndefined();
});
