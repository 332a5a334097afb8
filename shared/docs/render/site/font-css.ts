import { isGenericFamily } from '#shared/docs/project/read-fonts.ts';
import type { SiteFont, SiteFonts } from '#shared/docs/project/site-model.ts';
import { encodePath } from '../bundle-paths.ts';

/**
 * What `_bindery/theme.css` says of the fonts that a project names: their files, and the variables by which the theme chooses fonts. Until a
 * file is there, and where there is none, readers see the theme's own font. `isThere`: whether the bundle has a file of the project. What is
 * written in `docs.json` is only ever the name of a font.
 */
export function fontCss({ body, heading }: SiteFonts, isThere: (path: string) => boolean): string {
  const has = (font: SiteFont | undefined): font is FontWithFile => font?.file !== undefined && isThere(font.file.path);
  const faces: string[] = [];
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

/** The font of headings, with the weight that its file is for; undefined where it is the file of the text. */
function besideBody(heading: FontWithFile, body: FontWithFile | undefined) {
  // A file for headings alone is shown as it is: browsers make it no bolder.
  if (heading.family !== body?.family) return { font: heading, weight: allWeights };
  if (heading.file.path === body.file.path) return undefined;
  const weight = heading.weight ?? 700;
  const isOneOfTwo = !body.file.variable && !heading.file.variable && weight !== (body.weight ?? 400);
  // Of two files for the same weight a browser would show the later one everywhere: the other, maybe the upright one, would be lost.
  return isOneOfTwo
    ? { font: heading, weight }
    : { font: { ...heading, family: `${heading.family} headings` }, weight: allWeights };
}

const allWeights = '1 1000';

/** The address is from the style sheet's folder. */
const fontFace = (font: FontWithFile, weight: number | string): string => `@font-face {
  font-family: ${familyName(font)};
  src: url("../${encodePath(font.file.path)}") format("${font.file.format}");
  font-weight: ${font.file.variable ? allWeights : weight};
  font-display: swap;
}
`;

/** In quotes, everything but letters and digits escaped: nothing in it can end the text. Without quotes only what CSS itself knows. */
function familyName({ family }: SiteFont): string {
  if (isGenericFamily(family)) return family;
  const escaped = family.toWellFormed().replace(/[^\p{L}\p{N} _-]/gu, (c) => `\\${c.codePointAt(0)?.toString(16)} `);
  return `"${escaped}"`;
}
