import type { Element, Root } from 'hast';
import { pageFile, pagePathOfAddress, relativeHref } from '../bundle-paths.ts';
import { type Report, startOf } from '../findings.ts';
import type { InterfaceTexts } from '../interface-texts/interface-texts.ts';
import { languageOf } from '../interface-texts/language.ts';
import type { PageSlice } from '../page-slice.ts';
import { eachElement } from './finish-content.ts';
import { classifyUrl, decoded, isInlineImage } from '#shared/docs/project/url-policy.ts';

/**
 * Turns the addresses of a page's content into relative ones, so that the bundle works at any path and from a folder. Pictures of other
 * sites stay where they are: nothing is fetched. Returns the internal targets with their anchors, each starting with a slash, and the line of
 * the first link to each; 0: it is not known. Which of them are broken shows when all pages are there.
 */
export function resolveAddresses(trees: readonly Root[], slice: PageSlice, report: Report): Map<string, number> {
  const { texts } = languageOf(slice.language);
  const links = new Map<string, number>();
  const add = (target: string, element: Element): void => {
    if (!links.has(target)) links.set(target, startOf(element).line ?? 0);
  };
  for (const tree of trees) {
    eachElement(tree, (element) => {
      const { properties, tagName } = element;
      if (typeof properties.href === 'string') resolveHref(element, properties.href);
      for (const name of ['src', 'poster'] as const) {
        const written = properties[name];
        if (typeof written === 'string') resolveSource(element, name, written);
      }
      if (tagName === 'img' && properties.src === undefined) becomeText(element, texts);
    });
  }

  function resolveHref(element: Element, written: string): void {
    const url = classifyUrl(written);
    if (url.kind === 'refused') {
      delete element.properties.href;
      report(
        'address-not-allowed',
        `The address ${quoted(written)} is left out: only http, https, mailto and tel may be linked.`,
        element,
      );
    } else if (url.kind === 'external') element.properties.href = url.href;
    else if (url.kind === 'anchor') {
      if (url.hash.length > 1 && !('dataFootnoteRef' in element.properties)) add(`/${slice.path}${url.hash}`, element);
    } else if (url.path === '') add(`/${slice.path}${url.hash}`, element);
    else {
      const target = rooted(url.path, slice.file);
      add(target + url.hash, element);
      element.properties.href = hrefOf(resolve(target) ?? fallbackFile(target), url.query, url.hash);
    }
  }

  function resolveSource(element: Element, name: 'src' | 'poster', written: string): void {
    if (isInlineImage(written)) return;
    const url = classifyUrl(written);
    const refuse = (why: string) => {
      delete element.properties[name];
      report('address-not-allowed', `The address ${quoted(written)} is left out: ${why}.`, element);
    };
    if (url.kind === 'external') {
      if (url.href.startsWith('https:')) element.properties[name] = url.href;
      else refuse('media of other sites must have an https address');
    } else if (url.kind !== 'path' || url.path === '')
      refuse('it is neither a file of the project nor an https address');
    else {
      if (climbsOut(url.path, slice.file)) {
        refuse('it leads out of the project');
        return;
      }
      const target = rooted(url.path, slice.file);
      const found = resolve(target);
      if (found === null || found.startsWith('https:')) {
        delete element.properties[name];
        report('missing-file', `There is no file ${quoted(target)} in the project.`, element);
      } else element.properties[name] = relativeHref(slice.path, found);
    }
  }

  /** Targets that publication did not see, because expressions or snippets make them, are assumed to exist. */
  function resolve(target: string): string | null {
    const names = [target, target.replace(/\/$/, ''), decoded(target)];
    const known = names.find((name) => Object.hasOwn(slice.links, name));
    return known === undefined ? fallbackFile(target) : (slice.links[known] ?? null);
  }

  function hrefOf(file: string, query: string, hash: string): string {
    if (file.startsWith('https:')) return file;
    const [path = '', anchor] = file.split('#');
    return relativeHref(slice.path, path) + query + (hash !== '' ? hash : anchor === undefined ? '' : `#${anchor}`);
  }

  return links;
}

/** Of a pair of pictures, light shows one and dark the other. */
const showsOrHides = /^(dark:)?(hidden|block|inline|inline-block|flex)$/;

/** A picture without a source becomes its description. */
function becomeText(element: Element, texts: InterfaceTexts): void {
  const { alt, className } = element.properties;
  const kept = Array.isArray(className) ? className.filter((name) => showsOrHides.test(name)) : [];
  element.tagName = 'span';
  element.properties = { className: ['missing-image', ...kept] };
  element.children = [{ type: 'text', value: typeof alt === 'string' && alt !== '' ? alt : texts.missingImage }];
}

function fallbackFile(target: string): string {
  const path = pagePathOfAddress(target);
  return /\.[a-z0-9]{1,8}$/i.test(path) ? decoded(path) : pageFile(decoded(path));
}

/** A path from the top or from the folder of the page's file, with a slash in front. */
function rooted(path: string, file: string): string {
  const parts = path.startsWith('/') ? [] : file.split('/').slice(0, -1);
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

function climbsOut(path: string, file: string): boolean {
  let depth = path.startsWith('/') ? 0 : file.split('/').length - 1;
  for (const part of decoded(path).split('/')) {
    if (part === '..') depth -= 1;
    else if (part !== '' && part !== '.') depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 200));
