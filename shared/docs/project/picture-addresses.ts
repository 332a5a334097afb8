import { remoteAddress } from '#shared/docs/reference/remote-files.ts';

/** An address of a picture on another site. `at`: the offset in the text. */
export type PictureAddress = { address: string; written: string; at: number };

const inMarkdown = /!\[[^\]\n]{0,1000}\]\(\s*<?(https?:\/\/[^\s)>]{1,2000})/gi;
const inElement =
  /<(?:img|Image)\b(?:[^<>"'`]|"[^"]{0,4000}"|'[^']{0,4000}'|`[^`]{0,4000}`){0,200}?\ssrc\s*=\s*\{?\s*["'`](https?:\/\/[^"'`\s{}<>\\]{1,2000})["'`]/g;
const inProp = /\b(?:img|icon|poster)\s*=\s*\{?\s*["'`](https?:\/\/[^"'`\s{}<>\\]{1,2000})["'`]/g;

/**
 * Addresses of the pictures that a page or snippet shows, as far as they are in its text: an address that an expression makes is not found. Pictures are
 * those of Markdown, `<img src>`, and the props `img`, `icon` and `poster`. Pure.
 */
export function pictureAddresses(text: string): PictureAddress[] {
  if (!/https?:\/\//i.test(text)) return [];
  return [inMarkdown, inElement, inProp].flatMap((pattern) =>
    Array.from(text.matchAll(pattern)).flatMap(({ 0: whole, 1: written = '', index }) => {
      const address = written.includes('{{') ? undefined : remoteAddress(written.replaceAll('&amp;', '&'));
      return address === undefined ? [] : [{ address, written, at: index + whole.indexOf(written) }];
    }),
  );
}
