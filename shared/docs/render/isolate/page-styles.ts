import { replaceCssAddresses } from '#shared/docs/project/css-addresses.ts';
import { resolvePath } from '#shared/docs/project/project-files.ts';
import { classifyUrl, decoded } from '#shared/docs/project/url-policy.ts';
import { encodePath, stylesFile } from '../bundle-paths.ts';
import type { Report } from '../findings.ts';
import type { PageSlice } from '../page-slice.ts';
import { isolateCss } from './isolate-css.ts';

/** The style sheet of a page, made from its `<style>` elements: a file of the bundle. */
export type PageStyles = { path: string; text: string };

const maxStyles = 200_000;

/**
 * Collects the styles in a page, and restricts them to its content like style sheets of a project whose scripts are not allowed. They may load files
 * of the project, and pictures and fonts by https. Style sheets with brackets that do not match are left out. Undefined if nothing is left.
 */
export function pageStyles(
  texts: readonly string[],
  { path, file }: Pick<PageSlice, 'path' | 'file'>,
  report: Report,
): PageStyles | undefined {
  let text = '';
  for (const written of texts.filter((one) => one.trim() !== '')) {
    const sheet = text.length + written.length > maxStyles ? undefined : isolateCss(written);
    if (sheet === undefined) {
      const why =
        text.length + written.length > maxStyles
          ? `the page has more than ${maxStyles / 1000} kB of them`
          : 'its brackets or quotation marks do not match';
      report('style-left-out', `A <style> is left out: ${why}. Use a .css file of the project, or correct it.`);
    } else text += sheet;
  }
  if (text === '') return undefined;
  return {
    path: stylesFile(path),
    text: replaceCssAddresses(text, fromSheet),
  };

  /** Converts an address, which is relative to the page or to the top of the site, to one relative to the style sheet. */
  function fromSheet(named: string, quote: string): string | undefined {
    const url = classifyUrl(named);
    const target = url.kind === 'path' && url.path !== '' ? resolvePath(decoded(url.path), file) : undefined;
    if (target === undefined || url.kind !== 'path') return undefined;
    return `url(${quote}../../${plain(encodePath(target) + url.query + url.hash)}${quote})`;
  }
}

/** Encodes characters that have a meaning in CSS: they could end a comment, an address or a string. */
const plain = (address: string): string =>
  address.replaceAll(/[^\w./@%+,~?#=&:;$!-]/gu, (character) =>
    /[*'()]/.test(character)
      ? `%${character.charCodeAt(0).toString(16).toUpperCase()}`
      : encodeURIComponent(character.toWellFormed()),
  );
