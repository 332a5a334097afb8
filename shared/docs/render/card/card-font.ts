import { readFileSync } from 'node:fs';
import { LRUCache } from 'lru-cache';
import opentype from 'opentype.js';
import { packageFile } from '#shared/runtime/installed-packages.ts';
import type { CardStyle } from './card-style.ts';

/** A font at a certain size, as outlines. The result does not depend on fonts of the machine. */
export type CardFont = {
  widthOf: (text: string) => number;
  /** Paths of an SVG for this text. `x` and `y` are the left end of its baseline. */
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

/** A word that was measured before. `path`: its outlines from the origin, once it was drawn. */
type Word = { width: number; path?: string };

/** Cache of shaped words, by font, size and word. Pages of a site share most of their words, and shaping takes longer than everything else. */
const words = new LRUCache<string, Word>({ max: 10_000 });

/**
 * The font of a card at one size. `tracking`: additional space between letters, as a fraction of the size. Words are placed side by side, without
 * kerning around spaces.
 */
export function cardFont(family: CardStyle['family'], weight: Weight, size: number, tracking = 0): CardFont {
  const font = fontOf(family, weight);
  const options = { letterSpacing: tracking };
  const wordOf = (text: string): Word => {
    const key = `${family} ${weight} ${size} ${tracking} ${text}`;
    const known = words.get(key);
    if (known !== undefined) return known;
    const word = { width: text === '' ? 0 : font.getAdvanceWidth(text, size, options) };
    words.set(key, word);
    return word;
  };
  const space = wordOf(' ').width;
  return {
    widthOf: (text) => text.split(' ').reduce((width, word) => width + space + wordOf(word).width, -space),
    outlines(text, x, y) {
      let left = x;
      const paths = text.split(' ').map((written) => {
        const word = wordOf(written);
        word.path ??= font.getPath(written, 0, 0, size, options).toPathData(1);
        const path = `<path transform="translate(${left.toFixed(1)} ${y})" d="${word.path}"/>`;
        left += word.width + space;
        return path;
      });
      return paths.join('');
    },
  };
}

/** The first letter for which the family has no outlines, or which combines with another letter and would need text shaping. */
export function missingLetter(family: CardStyle['family'], text: string): string | undefined {
  const fonts = [fontOf(family, 'regular'), fontOf(family, 'bold')];
  return Array.from(text).find(
    (letter) => /\p{M}/u.test(letter) || fonts.some((font) => font.charToGlyphIndex(letter) === 0),
  );
}
