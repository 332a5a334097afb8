import type { Finding } from '#shared/docs/findings/finding-texts.ts';

export type DecodedSource = { text: string; diagnostics: Finding[] };

/**
 * Decodes a file in the same way for all readers: no byte order mark, LF line ends, and U+FFFD for NUL and invalid UTF-8. Files that are not UTF-8
 * are reported as `bad-encoding`. UTF-16 is read if it has a byte order mark.
 */
export function decodeSource(source: Uint8Array | string, file: string): DecodedSource {
  const diagnostics: Finding[] = [];
  const report = (message: string): void => {
    diagnostics.push({ severity: 'warning', code: 'bad-encoding', message, file });
  };
  let text: string;
  if (typeof source === 'string') {
    text = source.toWellFormed();
  } else {
    const encoding = encodingOf(source);
    text = new TextDecoder(encoding).decode(source);
    if (encoding !== 'utf-8') report(`This file is ${encoding.toUpperCase()}. Save it as UTF-8.`);
    else if (text.includes('\ufffd') && !validUtf8(source)) {
      report('This file has bytes that are not UTF-8; they are shown as \ufffd. Save it as UTF-8.');
    }
  }
  if (text.startsWith('\ufeff')) text = text.slice(1);
  if (text.includes('\u0000')) {
    text = text.replaceAll('\u0000', '\ufffd');
    report('This file has NUL characters; they are shown as \ufffd. Remove them.');
  }
  if (text.includes('\r')) text = text.replaceAll(/\r\n?/g, '\n');
  return { text, diagnostics };
}

function encodingOf(bytes: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (bytes[0] === 0xff && bytes[1] === 0xfe && bytes.length % 2 === 0) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff && bytes.length % 2 === 0) return 'utf-16be';
  return 'utf-8';
}

function validUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
