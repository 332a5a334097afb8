import { cardFile } from '../bundle-paths.ts';
import type { PageSlice } from '../page-slice.ts';
import { type CardFont, cardFont, missingLetter } from './card-font.ts';
import { cardSize, type CardStyle } from './card-style.ts';
import { wrapText } from './wrap-text.ts';

/** The preview image that social networks show for a link to a page: a file of the bundle that is not drawn yet. */
export type PageCard = { path: string; svg: string };

const edge = 80;
const textWidth = cardSize.width - 2 * edge;
/** Limit of the characters that are measured, more than a card can show. */
const most = { title: 300, line: 80, description: 500 };

/** Sizes of the title, largest first. The first size at which the title fits is used. */
const titleSizes = [
  { size: 84, most: 2 },
  { size: 68, most: 2 },
  { size: 58, most: 3 },
];

/**
 * The card of a page: the site's name, section, title, description and address, in the colours of the site. Undefined if the site has no cards, if
 * the page names another picture, or if the title has letters that the font lacks; `inform` then gets a sentence for the author. Other lines with
 * such letters are left out. Letters of right-to-left scripts always count as missing.
 */
export function pageCard(
  { path, title, frontmatter, settings, groups }: PageSlice,
  description: string | undefined,
  inform: (message: string) => void,
): PageCard | undefined {
  const { card: style, siteUrl } = settings;
  if (style === undefined || siteUrl === undefined || typeof frontmatter['og:image'] === 'string') return undefined;
  const plainTitle = plain(title, most.title);
  const missing = missingLetter(style.family, plainTitle);
  if (missing !== undefined || plainTitle === '') {
    const why = missing === undefined ? 'it has no title' : `the font has no ${JSON.stringify(missing)}`;
    inform(`There is no picture for links to this page: ${why}. Set "og:image" in its frontmatter to a picture.`);
    return undefined;
  }
  const shown = (text: string | undefined, length: number): string => {
    const line = plain(text ?? '', length);
    return missingLetter(style.family, line) === undefined ? line : '';
  };
  const { host, pathname } = new URL(siteUrl);
  const svg = cardDrawing(style, {
    title: plainTitle,
    name: shown(settings.name, most.line),
    section: shown(groups.at(-1)?.title, most.line),
    description: shown(description, most.description),
    address: shown(host + pathname.replace(/\/$/, ''), most.line),
  });
  return { path: cardFile(path), svg };
}

type CardTexts = Record<'title' | 'name' | 'section' | 'description' | 'address', string>;

function cardDrawing(style: CardStyle, { title, name, section, description, address }: CardTexts): string {
  const { family } = style;
  const shapes: string[] = [];
  const line = (font: CardFont, text: string, y: number, color: string, x = edge): void => {
    if (text !== '') shapes.push(`<g fill="${color}">${font.outlines(text, x, y)}</g>`);
  };
  const single = (font: CardFont, text: string, width: number): string =>
    text === '' ? '' : (wrapText(text, font.widthOf, { width, most: 1 }).lines[0] ?? '');

  const nameFont = cardFont(family, 'bold', 32);
  const initialFont = cardFont(family, 'bold', 36);
  const mark = 60;
  const initial = /[\p{L}\p{N}]/u.exec(name)?.[0].toUpperCase() ?? '';
  shapes.push(`<rect x="${edge}" y="72" width="${mark}" height="${mark}" rx="14" fill="${style.accent}"/>`);
  line(initialFont, initial, 115, style.onAccent, edge + (mark - initialFont.widthOf(initial)) / 2);
  line(nameFont, single(nameFont, name, textWidth - mark - 20), 113, style.title, edge + mark + 20);

  const { font, lines, size } = titleLines(family, title);
  const descriptionFont = cardFont(family, 'regular', 32);
  const about =
    description === '' ? [] : wrapText(description, descriptionFont.widthOf, { width: textWidth, most: 2 }).lines;
  const sectionFont = cardFont(family, 'bold', 26);
  const addressFont = cardFont(family, 'regular', 26);

  // Lines are placed from the bottom up, so that the last ones have the same height on each card.
  let y = 548;
  line(addressFont, single(addressFont, address, textWidth), y, style.muted);
  y -= 72;
  for (const text of about.toReversed()) {
    line(descriptionFont, text, y, style.muted);
    y -= 44;
  }
  y -= about.length > 0 ? 20 : 0;
  for (const text of lines.toReversed()) {
    line(font, text, y, style.title);
    y -= Math.round(size * 1.14);
  }
  line(sectionFont, single(sectionFont, section, textWidth), y - Math.round((84 - size) / 6), style.accentText);

  const { width, height } = cardSize;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="${width}" height="${height}" fill="${style.background}"/><rect y="${height - 12}" width="${width}" height="12" fill="${style.accent}"/>${shapes.join('')}</svg>`;
}

function titleLines(family: CardStyle['family'], title: string) {
  const tried = titleSizes.map(({ size, most: mostLines }) => () => {
    const font = cardFont(family, 'bold', size, -0.015);
    return { font, size, ...wrapText(title, font.widthOf, { width: textWidth, most: mostLines }) };
  });
  let found = tried[0]?.();
  for (const attempt of tried.slice(1)) if (found?.isCut !== false) found = attempt();
  if (found === undefined) throw new Error('there is no size for titles');
  return found;
}

/** One line without emoji, which text fonts do not have. */
function plain(text: string, length: number): string {
  return text
    .slice(0, length)
    .toWellFormed()
    .normalize('NFC')
    .replace(/\p{Extended_Pictographic}|\p{Cf}|\ufe0e|\ufe0f/gu, (letter) =>
      letter === '©' || letter === '®' || letter === '™' ? letter : '',
    )
    .replace(/\s+/g, ' ')
    .trim();
}
