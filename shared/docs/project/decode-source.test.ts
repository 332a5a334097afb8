import { describe, expect, it } from 'vitest';
import { decodeSource } from './decode-source.ts';

const decode = (bytes: Uint8Array | string) => decodeSource(bytes, 'a.mdx');

describe('the text of a file', () => {
  it('has LF line ends and no byte order mark', () => {
    expect(decode(Buffer.from('\ufeffa\r\nb\rc\n'))).toEqual({ text: 'a\nb\nc\n', diagnostics: [] });
  });

  it('shows NUL and bytes that are not UTF-8 as U+FFFD, and reports them', () => {
    const found = decode(Buffer.from([0x41, 0xff, 0x00, 0x42]));
    expect(found.text).toBe('A\ufffd\ufffdB');
    expect(found.diagnostics.map(({ code }) => code)).toEqual(['bad-encoding', 'bad-encoding']);
  });

  it('does not report a U+FFFD that the author wrote', () => {
    expect(decode(Buffer.from('a \ufffd b')).diagnostics).toEqual([]);
  });

  it('reads UTF-16 with a byte order mark, and asks for UTF-8', () => {
    const found = decode(Buffer.from('\ufeff# Hé\n', 'utf16le'));
    expect(found.text).toBe('# Hé\n');
    expect(found.diagnostics).toMatchObject([{ code: 'bad-encoding' }]);
  });

  it('replaces lone surrogates in text', () => {
    expect(decode('a\ud800b').text).toBe('a\ufffdb');
  });
});
