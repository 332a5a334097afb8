import { isGenericFamily } from '#shared/docs/project/read-fonts.ts';
import type { SiteFont, SiteFonts } from '#shared/docs/project/site-model.ts';
import { encodePath } from '../bundle-paths.ts';

/**
 * Rules of `_bindery/theme.css` for the fonts that a project names: their files, and the variables by which the theme chooses fonts. Until a file is
 * loaded, and if there is none, readers see the theme's own font. `isThere`: true if the bundle has a file of the project. Text of `docs.json` only
 * becomes the name of a font.
 */
export function fontCss({ body, heading }: SiteFonts, isThere: (path: string) => boolean): string {
  const has = (font: SiteFont | undefined): font is FontWithFile => font?.file !== undefined && isThere(font.file.path);
  const ofFamily = (font: SiteFont | undefined): string[] =>
    font?.faces?.filter(({ path }) => isThere(path)).map((face) => fontFaceOf(font, face)) ?? [];
  const faces: string[] = [...new Set([...ofFamily(body), ...ofFamily(heading)])];
  const ofBody = has(body) ? body : undefined;
  if (ofBody) faces.push(fontFace(ofBody, ofBody.weight ?? 400));
  const ofHeading = has(heading) ? besideBody(heading, ofBody) : undefined;
  if (ofHeading) faces.push(fontFace(ofHeading.font, ofHeading.weight));
  const variables: [string, string | number | undefined][] = [
    ['sans', body && `${familyName(body)}, var(--system-sans)`],
    ['body-weight', body?.weight],
    ['heading-font', heading && `${familyName(ofHeading?.font ?? heading)}, var(--sans)`],
    ['heading-weight', heading?.weight],
  ];
  const set = variables.flatMap(([name, value]) => (value === undefined ? [] : [`  --${name}: ${value};\n`]));
  return `/* Fonts of the project. */\n${faces.join('')}:root {\n${set.join('')}}\n`;
}

type FontWithFile = SiteFont & { file: NonNullable<SiteFont['file']> };

/** The font of headings with the weight range of its file; undefined if it has the same file as the text. */
function besideBody(heading: FontWithFile, body: FontWithFile | undefined) {
  // A font that only headings use is shown unchanged: the weight range keeps browsers from making it bolder.
  if (heading.family !== body?.family) return { font: heading, weight: allWeights };
  if (heading.file.path === body.file.path) return undefined;
  const weight = heading.weight ?? 700;
  const isOneOfTwo = !body.file.variable && !heading.file.variable && weight !== (body.weight ?? 400);
  // If two files have the same weight, browsers use the later one everywhere and never the other, which may be the upright one.
  return isOneOfTwo
    ? { font: heading, weight }
    : { font: { ...heading, family: `${heading.family} headings` }, weight: allWeights };
}

const allWeights = '1 1000';

/** An `@font-face` rule of one of several files of a family. */
const fontFaceOf = (
  font: SiteFont,
  { path, format, weight, range }: NonNullable<SiteFont['faces']>[number],
): string => `@font-face {
  font-family: ${familyName(font)};
  src: url("../${encodePath(path)}") format("${format}");
  font-weight: ${weight};
  font-display: swap;
${range === undefined ? '' : `  unicode-range: ${range};\n`}}
`;

/** An `@font-face` rule. The address is relative to the style sheet's folder. */
const fontFace = (font: FontWithFile, weight: number | string): string => `@font-face {
  font-family: ${familyName(font)};
  src: url("../${encodePath(font.file.path)}") format("${font.file.format}");
  font-weight: ${font.file.variable ? allWeights : weight};
  font-display: swap;
}
`;

/**
 * A quoted family name in which everything except letters and digits is escaped, so that it cannot end the string. Generic families of CSS have no
 * quotes.
 */
function familyName({ family }: SiteFont): string {
  if (isGenericFamily(family)) return family;
  const escaped = family.toWellFormed().replace(/[^\p{L}\p{N} _-]/gu, (c) => `\\${c.codePointAt(0)?.toString(16)} `);
  return `"${escaped}"`;
}
