import { themeSheet } from '../site/browser-files.ts';

/**
 * A project's style sheet so that it reaches only what is inside the content of pages: everything is in one `@scope`, which is inside the box
 * that keeps the content in its place. Undefined when its brackets do not match, because then it could
 * end the scope. Fonts, pictures, animations and conditions in it work; `@import` does not, nor does any rule that is for the whole page
 * wherever it stands, such as `@property` and `@page`. Names of fonts and animations are for the whole page, too: those that the frame uses
 * cannot be given again. Pure.
 */
export function isolateCss(text: string): string | undefined {
  const body = withinScope(text.replace(/^\ufeff/, ''));
  return body === undefined ? undefined : `@scope (.mdx-content, .aside-content) {\n${withDark(body)}\n}\n`;
}

/**
 * In a scope, what stands first in a selector is looked for inside of it, unless the scope is named. The mark of the dark mode is on the root of the page.
 * What a rule reaches stays inside, whatever its selector says.
 */
const withDark = (css: string): string =>
  css.replace(darkFirst, (written: string, mark: string, at: number) => {
    let before = at - 1;
    while (/\s/.test(css[before] ?? '')) before -= 1;
    return before < 0 || /[{};,/]/.test(css[before] ?? '') ? `${mark} :where(:scope) ` : written;
  });

const darkFirst = /((?:html|:root)?\.dark)\s+(?=[^\s{},;>+~)])/g;

/** Rules that hold style rules, or that have a name, which is looked at. */
const scopedRules = /^@(media|supports|container|scope|layer|starting-style|font-face|(-[a-z]+-)?keyframes)$/;

const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/**
 * One step of the scanner: comments, strings, addresses without quotes, escapes, names of rules, brackets. What fits none is wrong. An escape
 * must not spell a letter of `url`, because what follows that name is read differently.
 */
const parts =
  /\/\*[^]*?\*\/|"(?:[^"\\\n\r\f]|\\[^])*"|'(?:[^'\\\n\r\f]|\\[^])*'|url\([ \t\n\r\f]*(?:(?!\/\*)[^"'(){}[\]\\\s])*[ \t\n\r\f]*\)|url\((?=[ \t\n\r\f]*["'])|\\[^\n\r\fa-f0-9url]|@(?:[-\w\u0080-\uffff]|\\[^\n\r\fa-f0-9url])*|[([{)\]}]|[^"'\\()[\]{}/u@]+|\/(?!\*)|u(?!rl\()/iy;

/**
 * The text with other names for rules that are not only for the scope: browsers leave out what they do not know. Undefined unless every
 * bracket is closed, and so that all browsers agree on it. Wherever they could differ in how they go on after a mistake, the answer is no.
 */
function withinScope(css: string): string | undefined {
  const open: string[] = [];
  const kept: string[] = [];
  /** The rule with a name that is not at its end: its place in `kept`, and how deep it stands. */
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
      // Inside another one: no browser makes anything of that.
      named = leaveOut(named);
      if (isKnown && /(font-face|keyframes)$/i.test(part))
        named = { at: kept.length, depth: open.length, isFont: /face$/i.test(part), isOpen: false };
    }
    kept.push(isRule && !isKnown ? '@left-out' : part);
  }
  leaveOut(named);
  return open.length === 0 ? kept.join('') : undefined;
}

/** Fonts that the theme names, in small letters. */
const fontsOfFrame: ReadonlySet<string> = new Set(
  [...themeSheet.matchAll(/--(?:system-sans|mono):([^;]+);/g)].flatMap(([, list = '']) =>
    list.split(',').map(familyOf),
  ),
);

function familyOf(written: string): string {
  return written.replace(/["']/g, '').trim().replace(/\s+/g, ' ').toLowerCase();
}

/** What stands in `@font-face`, from its bracket on. Where it is not plain which font that is, the answer is yes. */
function namesFontOfFrame(block: string): boolean {
  const text = withoutComments(block);
  if (text.includes('\\')) return true;
  const families = [...text.matchAll(/font-family\s*:([^;]*)/gi)].map(([, name = '']) => familyOf(name));
  return families.some((family) => fontsOfFrame.has(family) || family.startsWith('katex_'));
}

/** What stands between `@keyframes` and its bracket. */
const namesAnimationOfFrame = (name: string): boolean => /\\|bindery/i.test(withoutComments(name));

const withoutComments = (text: string): string => text.replace(/\/\*[^]*?\*\//g, ' ');
