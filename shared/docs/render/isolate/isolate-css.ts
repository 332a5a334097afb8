/**
 * A project's style sheet so that it reaches only what is inside the content of pages: everything is in one `@scope`, which is inside the box
 * that keeps the content in its place. Undefined when its brackets do not match, because then it could
 * end the scope. Fonts, pictures and conditions in it work; `@import` does not. Pure.
 */
export function isolateCss(text: string): string | undefined {
  const body = text.replace(/^\ufeff/, '');
  return isBalanced(body) ? `@scope (.mdx-content, .aside-content) {\n${body}\n}\n` : undefined;
}

const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/**
 * One step of the scanner: comments, strings, addresses without quotes, escapes, brackets. What fits none is wrong. An escape must not spell a
 * letter of `url`, because what follows that name is read differently.
 */
const parts =
  /\/\*[^]*?\*\/|"(?:[^"\\\n\r\f]|\\[^])*"|'(?:[^'\\\n\r\f]|\\[^])*'|url\([ \t\n\r\f]*(?:(?!\/\*)[^"'(){}[\]\\\s])*[ \t\n\r\f]*\)|url\((?=[ \t\n\r\f]*["'])|\\[^\n\r\fa-f0-9url]|[([{)\]}]|[^"'\\()[\]{}/u]+|\/(?!\*)|u(?!rl\()/iy;

/**
 * Whether every bracket is closed, and so that all browsers agree on it. Wherever they could differ in how they go on after a mistake, the
 * answer is no.
 */
function isBalanced(css: string): boolean {
  const open: string[] = [];
  for (parts.lastIndex = 0; parts.lastIndex < css.length; ) {
    const [part = ''] = parts.exec(css) ?? [];
    const closedBy = closing[part.at(-1) ?? ''];
    if (part === '') return false;
    if (part.length === 1 || /^url\($/i.test(part)) {
      if (closedBy !== undefined) open.push(closedBy);
      else if (/[)\]}]/.test(part) && open.pop() !== part) return false;
    }
  }
  return open.length === 0;
}
