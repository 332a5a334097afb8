import { resolvePath } from '#shared/docs/project/project-files.ts';
import { classifyUrl, decoded } from '#shared/docs/project/url-policy.ts';
import { encodePath, stylesFile } from '../bundle-paths.ts';
import type { Report } from '../findings.ts';
import type { PageSlice } from '../page-slice.ts';
import { isolateCss } from './isolate-css.ts';

/** The style sheet of a page with what its `<style>` elements say: a file of the bundle. */
export type PageStyles = { path: string; text: string };

const maxStyles = 200_000;

/**
 * Style sheets that a page has in itself, kept to its content as those of the project are where no scripts of it may run. They may load what those may:
 * files of the project, and pictures and fonts by https. One with brackets that do not match is left out. Undefined where nothing is left.
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
      report('style-left-out', `A <style> is left out: ${why}. Use a .css file of the project, or mend it.`);
    } else text += sheet;
  }
  if (text === '') return undefined;
  return {
    path: stylesFile(path),
    text: text.replace(address, (whole, quote: string, named: string) => fromSheet(whole, quote, named)),
  };

  /** Addresses are seen from the page, and from the top of the site. */
  function fromSheet(whole: string, quote: string, named: string): string {
    const url = classifyUrl(named);
    const target = url.kind === 'path' && url.path !== '' ? resolvePath(decoded(url.path), file) : undefined;
    return target === undefined
      ? whole
      : `url(${quote}../../${plain(encodePath(target))}${url.kind === 'path' ? url.query + url.hash : ''}${quote})`;
  }
}

/** Escapes could stand for what CSS reads: the end of a comment, of an address or of a text. */
const plain = (path: string): string =>
  path.replaceAll(/[*'()]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * Addresses of characters that mean nothing to CSS, so that a sheet keeps its parts where one takes the place of another: an escape, or the end of a
 * comment in one, would not.
 */
const address = /\burl\(\s*(["']?)([\w./@%+~?#=&-]+)\1\s*\)/gi;
