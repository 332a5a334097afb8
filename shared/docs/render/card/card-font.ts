import { readFileSync } from 'node:fs';
import opentype from 'opentype.js';
import { packageFile } from '../package-file.ts';
import type { CardStyle } from './card-style.ts';

/** A font at a certain size, as outlines. The result does not depend on fonts of the machine. */
export type CardFont = {
  widthOf: (text: string) => number;
  /** The path data of an SVG for this text. `x` and `y` are the left end of its baseline. */
  outlines: (text: string, x: number, y: number) => string;
};

type Font = ReturnType<typeof opentype.parse>;
type Weight = 'regular' | 'bold';

const files: Record<CardStyle['family'], Record<Weight, URL>> = {
  Roboto: {
    regular: packageFile('roboto-fontface/fonts/roboto/Roboto-Regular.woff'),
    bold: packageFile('roboto-fontface/fonts/roboto/Roboto-Bold.woff'),
  },
  'Roboto Slab': {
    regular: packageFile('roboto-fontface/fonts/roboto-slab/Roboto-Slab-Regular.woff'),
    bold: packageFile('roboto-fontface/fonts/roboto-slab/Roboto-Slab-Bold.woff'),
  },
  'Roboto Condensed': {
    regular: packageFile('roboto-fontface/fonts/roboto-condensed/Roboto-Condensed-Regular.woff'),
    bold: packageFile('roboto-fontface/fonts/roboto-condensed/Roboto-Condensed-Bold.woff'),
  },
};

const loaded = new Map<URL, Font>();

/** Loads a font when the first card needs it, because most sites have no cards. */
function fontOf(family: CardStyle['family'], weight: Weight): Font {
  const file = files[family][weight];
  const font = loaded.get(file) ?? opentype.parse(new Uint8Array(readFileSync(file)).buffer);
  loaded.set(file, font);
  return font;
}

/** `tracking`: additional space between letters, as a fraction of the size. */
export function cardFont(family: CardStyle['family'], weight: Weight, size: number, tracking = 0): CardFont {
  const font = fontOf(family, weight);
  const options = { letterSpacing: tracking };
  return {
    widthOf: (text) => font.getAdvanceWidth(text, size, options),
    outlines: (text, x, y) => font.getPath(text, x, y, size, options).toPathData(1),
  };
}

/** The first letter that the family has no outlines for, or that combines with another letter, which would need text shaping. */
export function missingLetter(family: CardStyle['family'], text: string): string | undefined {
  const fonts = [fontOf(family, 'regular'), fontOf(family, 'bold')];
  return Array.from(text).find(
    (letter) => /\p{M}/u.test(letter) || fonts.some((font) => font.charToGlyphIndex(letter) === 0),
  );
}
