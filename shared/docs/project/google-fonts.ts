/**
 * Fonts of Google Fonts, which `docs.json` names by their family alone. Their style sheet and its font files are fetched on the author's machine, so that
 * readers load nothing from Google. The address of the style sheet follows from the family and the weights, so a server finds the copies without a list.
 */

/** One file of a family: `weight` as in CSS, one number or the first and last of a range. `range`: the characters that it has, as in CSS. */
export type RemoteFace = { address: string; weight: string; range?: string };

/** Weights of the theme besides those that a project names: text, headings and bold text. */
const themeWeights = [400, 600, 700];
const mostFaces = 300;
const mostRange = 4_000;

/**
 * Addresses of the style sheet of a family, the best one first. Google refuses a request for a weight that a family does not have, so the last address
 * names none.
 */
export function googleStyles(family: string, weights: readonly number[]): string[] {
  const own = weights.filter((weight) => Number.isInteger(weight));
  const name = encodeURIComponent(family.trim()).replaceAll('%20', '+');
  const lists = [
    [...themeWeights, ...own],
    [400, 700, ...own],
    [400, 700],
  ].map((list) => [...new Set(list)].sort((a, b) => a - b).join(';'));
  const addressOf = (axis: string): string =>
    new URL(`https://fonts.googleapis.com/css2?family=${name}${axis}&display=swap`).href;
  return [...new Set(lists)].map((list) => addressOf(`:wght@${list}`)).concat(addressOf(''));
}

/** The upright faces of a style sheet of Google Fonts. Everything that is not in the expected form is left out. Pure. */
export function facesIn(style: string): RemoteFace[] {
  const faces: RemoteFace[] = [];
  for (const [, rules = ''] of style.matchAll(/@font-face\s*\{([^{}]{0,8000})\}/g)) {
    const value = (name: string): string | undefined =>
      new RegExp(`(?:^|[;\\s])${name}\\s*:\\s*([^;]{1,${mostRange}})(?:;|$)`).exec(rules)?.[1]?.trim();
    const address = /url\(\s*["']?(https?:\/\/[^\s"'()<>\\]{1,2000})["']?\s*\)/.exec(value('src') ?? '')?.[1];
    const weight = /^\d{1,4}(?: \d{1,4})?$/.exec(value('font-weight') ?? '400')?.[0];
    const range = value('unicode-range');
    if (address === undefined || weight === undefined || (value('font-style') ?? 'normal') !== 'normal') continue;
    if (range !== undefined && !/^U\+[0-9A-F?-]{1,13}(?:,\s*U\+[0-9A-F?-]{1,13})*$/i.test(range)) continue;
    faces.push({ address, weight, ...(range !== undefined && { range: range.replaceAll(/\s+/g, '') }) });
    if (faces.length === mostFaces) break;
  }
  return faces;
}
