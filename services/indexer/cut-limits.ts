/*
 * Limits of passages and links of a page. The child that cuts a page keeps to them, and its service checks them without loading the child's code.
 */

/** Length of a passage: long enough for a paragraph with its code, short enough that five do not fill a prompt. */
export const passageCharacters = 1_200;
/** Limit of a heading, which each of its passages repeats. */
export const headingCharacters = 500;
/** Limit of an anchor, because programs and proxies refuse longer addresses. A passage with a longer one is found without its place in the page. */
export const anchorCharacters = 2_000;
/** Limit of passages of a page. Each passage repeats the title and keywords of its page. The texts of the largest page make about 200; further ones are headings. */
export const mostPassages = 2_000;

/** Limit of links of a page. A page with more is a list, and its links say little about their targets. */
export const mostLinks = 500;
/** Limit of a link text. Longer ones are sentences and paragraphs, not names. */
export const mostLinkCharacters = 100;
/** Limit of a link target. Programs and proxies refuse longer addresses. */
export const mostTargetCharacters = 2_000;
