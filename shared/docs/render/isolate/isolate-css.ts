/**
 * A project's style sheet so that it reaches only what is inside the content of pages: everything is in one `@scope`, which is inside the box
 * that keeps the content in its place. Undefined when its brackets do not match, because then it could
 * end the scope. Fonts, pictures, animations and conditions in it work; `@import` does not, nor does any rule that is for the whole page
 * wherever it stands, such as `@property` and `@page`. Pure.
 */
export function isolateCss(text: string): string | undefined {
  const body = withinScope(text.replace(/^\ufeff/, ''));
  return body === undefined ? undefined : `@scope (.mdx-content, .aside-content) {\n${body}\n}\n`;
}

/** Rules that hold style rules, or that nothing in the page's frame names. */
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
  for (parts.lastIndex = 0; parts.lastIndex < css.length; ) {
    const [part = ''] = parts.exec(css) ?? [];
    const closedBy = closing[part.at(-1) ?? ''];
    if (part === '') return undefined;
    if (part.length === 1 || /^url\($/i.test(part)) {
      if (closedBy !== undefined) open.push(closedBy);
      else if (/[)\]}]/.test(part) && open.pop() !== part) return undefined;
    }
    const isOther = part.length > 1 && part.startsWith('@') && !scopedRules.test(part.toLowerCase());
    kept.push(isOther ? '@left-out' : part);
  }
  return open.length === 0 ? kept.join('') : undefined;
}
