import { themeSheet } from '../site/browser-files.ts';
import { withSafeLoads } from './css-loads.ts';

/**
 * Restricts a project's style sheet to the content of pages: all rules are put into one `@scope`, which is inside the box of the content. Undefined
 * if the brackets do not match, because the sheet could then end the scope. Animations, conditions, and fonts and pictures of the project, of `data:`
 * and of https still work. `@import` does not, nor do rules that always apply to the whole page, such as `@property` and `@page`. Names of fonts and
 * animations are also global, so those that the frame uses cannot be redefined. Pure.
 */
export function isolateCss(text: string): string | undefined {
  const body = withinScope(text.replace(/^\ufeff/, ''));
  return body === undefined ? undefined : `@scope (.mdx-content, .aside-content) {\n${withDark(body)}\n}\n`;
}

/**
 * In a scope, browsers look for the first part of a selector inside the scope, unless the selector names the scope. The class of the dark mode is on
 * the root of the page, so `:where(:scope)` is inserted after it. Rules still apply only inside the scope.
 */
const withDark = (css: string): string =>
  css.replace(darkFirst, (written: string, mark: string, at: number) => {
    let before = at - 1;
    while (/\s/.test(css[before] ?? '')) before -= 1;
    return before < 0 || /[{};,/]/.test(css[before] ?? '') ? `${mark} :where(:scope) ` : written;
  });

const darkFirst = /((?:html|:root)?\.dark)\s+(?=[^\s{},;>+~)])/g;

/** Rules that contain style rules, and rules whose names are checked. */
const scopedRules = /^@(media|supports|container|scope|layer|starting-style|font-face|(-[a-z]+-)?keyframes)$/;

const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/**
 * Tokens of the scanner: comments, strings, addresses without quotes, escapes, names of rules, brackets. Anything else is an error. Escapes of the
 * letters of `url` are refused, because the text after that name is read differently.
 */
const parts =
  /\/\*[^]*?\*\/|"(?:[^"\\\n\r\f]|\\[^])*"|'(?:[^'\\\n\r\f]|\\[^])*'|url\([ \t\n\r\f]*(?:(?!\/\*)[^"'(){}[\]\\\s])*[ \t\n\r\f]*\)|url\((?=[ \t\n\r\f]*["'])|\\[^\n\r\fa-f0-9url]|@(?:[-\w\u0080-\uffff]|\\[^\n\r\fa-f0-9url])*|[([{)\]}]|[^"'\\()[\]{}/u@]+|\/(?!\*)|u(?!rl\()/iy;

/**
 * Renames rules that would apply outside the scope, so that browsers skip them as unknown. Undefined unless all browsers agree where every bracket
 * closes: a sheet is refused if browsers could recover differently from a mistake.
 */
function withinScope(css: string): string | undefined {
  const open: string[] = [];
  const kept: string[] = [];
  /** The `@font-face` or `@keyframes` rule that has begun: its index in `kept` and its nesting depth. */
  let named: { at: number; depth: number; isFont: boolean; isOpen: boolean } | undefined;
  const leaveOut = (rule: typeof named): undefined => {
    if (rule) kept[rule.at] = '@left-out';
  };
  for (parts.lastIndex = 0; parts.lastIndex < css.length; ) {
    const [part = ''] = parts.exec(css) ?? [];
    const closedBy = closing[part.at(-1) ?? ''];
    if (part === '') return undefined;
    if (part.length === 1 || /^url\($/i.test(part)) {
      if (closedBy !== undefined) open.push(closedBy);
      else if (/[)\]}]/.test(part) && open.pop() !== part) return undefined;
    }
    if (named && part === '{') {
      if (named.isFont) named = named.isOpen ? leaveOut(named) : { ...named, isOpen: true };
      else named = namesAnimationOfFrame(kept.slice(named.at + 1).join('')) ? leaveOut(named) : undefined;
    } else if (named?.isFont === true && part === '}' && open.length <= named.depth) {
      named = namesFontOfFrame(kept.slice(named.at + 1).join('')) ? leaveOut(named) : undefined;
    }
    const isRule = part.length > 1 && part.startsWith('@');
    const isKnown = isRule && scopedRules.test(part.toLowerCase());
    if (isRule) {
      // Browsers ignore such a rule inside another one.
      named = leaveOut(named);
      if (isKnown && /(font-face|keyframes)$/i.test(part))
        named = { at: kept.length, depth: open.length, isFont: /face$/i.test(part), isOpen: false };
    }
    kept.push(isRule && !isKnown ? '@left-out' : part);
  }
  leaveOut(named);
  return open.length === 0 ? withSafeLoads(kept) : undefined;
}

/** Font families that the theme uses, in lower case. */
const fontsOfFrame: ReadonlySet<string> = new Set(
  [...themeSheet.matchAll(/--(?:system-sans|mono):([^;]+);/g)].flatMap(([, list = '']) =>
    list.split(',').map(familyOf),
  ),
);

function familyOf(written: string): string {
  return written.replace(/["']/g, '').trim().replace(/\s+/g, ' ').toLowerCase();
}

/** True if an `@font-face` block, from its bracket on, defines a font of the frame, or if that is uncertain. */
function namesFontOfFrame(block: string): boolean {
  const text = withoutComments(block);
  if (text.includes('\\')) return true;
  const families = [...text.matchAll(/font-family\s*:([^;]*)/gi)].map(([, name = '']) => familyOf(name));
  return families.some((family) => fontsOfFrame.has(family) || family.startsWith('katex_'));
}

/** True if the text between `@keyframes` and its bracket names an animation of the frame, or if that is uncertain. */
const namesAnimationOfFrame = (name: string): boolean => /\\|bindery/i.test(withoutComments(name));

const withoutComments = (text: string): string => text.replace(/\/\*[^]*?\*\//g, ' ');
