import { type Drawing, drawingOf, type IconSet, namesInSet } from './icon-sets.ts';

/** Values of `icons.library` in docs.json. */
export type IconLibrary = 'fontawesome' | 'lucide' | 'tabler';

/** An icon as an author names it: `rocket`, with `iconType` if there is one, or both in Font Awesome's notation: `fa-regular fa-circle`. */
export type WrittenIcon = { name: string; type?: string | undefined };

export type FoundIcon = {
  drawing: Drawing;
  /** The name of the icon that is shown in place of a name that no library has. */
  instead?: string;
};

const longestName = 100;

/**
 * Finds the icon of a name. The project's own library is searched first, then the others. Paid styles (light, thin, sharp, duotone) fall back to free
 * ones. If no library has the name, the icon of a shorter name stands in: `rocket` for `rocket-launch`. Undefined if there is none.
 */
export function findIcon({ name, type }: WrittenIcon, library: IconLibrary): FoundIcon | undefined {
  if (name.length > longestName) return undefined;
  const read = readName(name);
  const wanted = setsFor(library, type ?? read.type);
  // `GitHub` is one word with a capital inside, `CircleCheck` is two words.
  const asOneWord = read.name.replaceAll('-', '');
  const known =
    inSets(read.name, wanted) ??
    inSets(paidNames.get(read.name), wanted) ??
    (hasCapitals(name) ? inSets(asOneWord, wanted) : undefined);
  if (known !== undefined) return { drawing: known };
  const words = read.name.split('-');
  for (let count = words.length - 1; count > 0; count -= 1) {
    const shorter = words.slice(0, count).join('-');
    const drawing = shorter.length > 1 ? inSets(shorter, wanted) : undefined;
    if (drawing !== undefined) return { drawing, instead: shorter };
  }
  return undefined;
}

/** The names of the icons of a library, each once. */
export const iconNames = (library: IconLibrary): string[] => {
  const own = setsFor(library).filter((set) => (library === 'fontawesome' ? set.startsWith('fa-') : set === library));
  return [...new Set(own.flatMap(namesInSet))];
};

const hasCapitals = (name: string): boolean => /[a-z0-9][A-Z]/.test(name);

function inSets(name: string | undefined, sets: readonly IconSet[]): Drawing | undefined {
  if (name === undefined) return undefined;
  for (const set of sets) {
    const drawing = drawingOf(set, name);
    if (drawing !== undefined) return drawing;
  }
  return undefined;
}

/** Sets in the order of search. */
function setsFor(library: IconLibrary, type = ''): IconSet[] {
  if (library === 'lucide') return ['lucide', 'tabler', 'fa-solid', 'fa-regular', 'fa-brands'];
  if (library === 'tabler') return ['tabler', 'lucide', 'fa-solid', 'fa-regular', 'fa-brands'];
  const others: IconSet[] = ['lucide', 'tabler'];
  if (type.includes('brands')) return ['fa-brands', 'fa-solid', 'fa-regular', ...others];
  // Outlines are the free style nearest to the thin ones.
  if (/regular|light|thin/.test(type)) return ['fa-regular', 'fa-solid', 'fa-brands', ...others];
  return ['fa-solid', 'fa-regular', 'fa-brands', ...others];
}

/** Short names of Font Awesome's styles. */
const styles: ReadonlyMap<string, string> = new Map([
  ...['fa', 'fas', 'fad', 'fass'].map((short) => [short, 'solid'] as const),
  ...['far', 'fal', 'fat', 'fasr', 'fasl', 'fast'].map((short) => [short, 'regular'] as const),
  ['fab', 'brands'],
]);
const longStyle = /^fa-(solid|regular|light|thin|brands|duotone|sharp)$/;

/** Reads `CircleCheck`, `IconHome`, `fa-solid fa-house` and `house` alike. */
function readName(written: string): WrittenIcon {
  let type: string | undefined;
  let name = '';
  for (const word of written.trim().split(/\s+/)) {
    const style = longStyle.exec(word)?.[1] ?? styles.get(word);
    if (style === undefined) name = word;
    else type = type === undefined ? style : `${type}-${style}`;
  }
  const kebab = name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
  return { name: kebab.replace(/^(?:fa|lucide|tabler|icon)-/, ''), type };
}

/** Paid Font Awesome icons, each with the nearest free one. Icons that differ only in their last words are found without this table. */
const paidNames: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'arrow-down-to-line': 'download',
    'arrow-up-from-line': 'upload',
    'arrow-up-right': 'arrow-up-right-from-square',
    'arrows-repeat': 'repeat',
    'arrows-retweet': 'retweet',
    'book-open-cover': 'book-open',
    books: 'book',
    'brackets-curly': 'braces',
    'brackets-square': 'brackets',
    browser: 'window-maximize',
    'camera-cctv': 'cctv',
    'chart-mixed': 'chart-column',
    'code-simple': 'code',
    'circle-bolt': 'bolt',
    'display-code': 'laptop-code',
    grid: 'table-cells',
    'grid-2': 'table-cells-large',
    'hand-wave': 'hand',
    'head-side-brain': 'brain',
    'input-text': 'i-cursor',
    'list-tree': 'folder-tree',
    loader: 'spinner',
    memo: 'note-sticky',
    'message-bot': 'robot',
    'microchip-ai': 'microchip',
    'mobile-notch': 'mobile-screen',
    'message-lines': 'message',
    'message-smile': 'message',
    'rocket-launch': 'rocket',
    page: 'file',
    'pen-line': 'pen',
    'rectangle-code': 'code',
    sidebar: 'table-columns',
    'sliders-simple': 'sliders',
    sparkle: 'sparkles',
    'square-code': 'code',
    'square-sliders': 'sliders',
    stars: 'sparkles',
    'table-layout': 'table-columns',
    timer: 'stopwatch',
    'user-robot': 'robot',
    up: 'arrow-up',
    down: 'arrow-down',
    'wand-sparkles': 'wand-magic-sparkles',
    waveform: 'wave-square',
    'waveform-lines': 'wave-square',
    website: 'globe',
    window: 'window-maximize',
  }),
);
