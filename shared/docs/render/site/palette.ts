import { lightDarkOf, objectOf } from '#shared/docs/project/json-values.ts';
import type { SiteSettings } from '#shared/docs/project/site-model.ts';

const fallbackPrimary: Oklch = { l: 0.55, c: 0.15, h: 250 };

/** Colours of a site as CSS variables. */
export function paletteCss(painted: Painted): string {
  const { light, dark } = paletteOf(painted);
  return `:root {\n${variables(light)}}\n\n:root.dark {\n${variables(dark)}}\n`;
}

/**
 * Colours of a site by name, all derived from the primary colour: two neutral ramps with a trace of its hue, and shades for text with a contrast of
 * 4.5:1 on their background in both modes. Surfaces have the original colour. If a project sets the colour of its background, the ramps start from
 * it.
 */
export function paletteOf({ colors, background, banner }: Painted) {
  const primary = fromHex(colors.primary) ?? fallbackPrimary;
  const onDark = fromHex(colors.light ?? '') ?? primary;
  const hue = primary.c < 0.01 ? 250 : primary.h;
  const neutral = (l: number, c: number) => toHex({ l, c: primary.c < 0.01 ? 0 : c, h: hue });

  const named = lightDarkOf(objectOf(background)['color']);
  const lightGrounds = lightGround(named?.light) ?? {
    bg: '#ffffff',
    surface: neutral(0.982, 0.004),
    raised: '#ffffff',
    sunken: neutral(0.965, 0.006),
    line: neutral(0.915, 0.007),
    'line-strong': neutral(0.84, 0.01),
  };
  const light = {
    ...lightGrounds,
    text: neutral(0.27, 0.015),
    strong: neutral(0.19, 0.018),
    muted: readable({ l: 0.5, c: 0.015, h: hue }, lightGrounds.sunken, 'darker', 4.6),
    accent: toHex(primary),
    'accent-text': readable(primary, lightGrounds.sunken, 'darker'),
    ...signals(lightSignals, lightGrounds.bg, 'darker'),
    ...bannerColors(banner, 'light'),
  };
  const darkGrounds = darkGround(named?.dark) ?? {
    bg: neutral(0.155, 0.008),
    surface: neutral(0.178, 0.009),
    raised: neutral(0.195, 0.01),
    sunken: neutral(0.21, 0.01),
  };
  const dark = {
    ...darkGrounds,
    line: 'rgb(255 255 255 / 0.09)',
    'line-strong': 'rgb(255 255 255 / 0.18)',
    text: neutral(0.855, 0.008),
    strong: neutral(0.96, 0.005),
    muted: readable({ l: 0.68, c: 0.012, h: hue }, darkGrounds.sunken, 'lighter', 4.6),
    accent: toHex(onDark),
    'accent-text': readable(onDark, darkGrounds.sunken, 'lighter'),
    ...signals(darkSignals, darkGrounds.bg, 'lighter'),
    ...bannerColors(banner, 'dark'),
  };
  return {
    light: { ...light, ...onSurface(primary, colors.dark) },
    dark: { ...dark, ...onSurface(onDark, colors.dark) },
  };
}

type Painted = Pick<SiteSettings, 'colors' | 'background' | 'banner'>;

/** Colours for a light background. Its lightness has a lower limit, because text on it is dark. Code and cards are lighter than the page. */
function lightGround(hex = '') {
  const named = fromHex(hex);
  if (named === undefined) return undefined;
  const bg = { ...named, l: Math.max(0.94, named.l) };
  const at = (step: number) => toHex({ ...bg, l: Math.min(1, bg.l + step) });
  return {
    bg: at(0),
    surface: at(0.025),
    raised: at(0.03),
    sunken: at(-0.03),
    line: at(-0.075),
    'line-strong': at(-0.15),
  };
}

/**
 * Colours for a dark background. Its lightness has an upper limit. Code is darker than a background that is not nearly black, because the colours of
 * code are made for dark surfaces.
 */
function darkGround(hex = '') {
  const named = fromHex(hex);
  if (named === undefined) return undefined;
  const bg = { ...named, l: Math.min(0.3, named.l) };
  const at = (step: number) => toHex({ ...bg, l: bg.l + step });
  return { bg: at(0), surface: at(bg.l > 0.2 ? -0.03 : 0.023), raised: at(0.04), sunken: at(0.055) };
}

const lightSignals = { note: '#2563eb', tip: '#0f766e', good: '#15803d', warn: '#b45309', bad: '#dc2626' };
const darkSignals = { note: '#7cabff', tip: '#4fd1bd', good: '#5dd688', warn: '#f0b04f', bad: '#ff8585' };

/** Signal colours, such as those of warnings, as text on the background. */
const signals = (colors: Record<string, string>, background: string, direction: 'darker' | 'lighter') =>
  Object.fromEntries(
    Object.entries(colors).map(([name, hex]) => [
      name,
      readable(fromHex(hex) ?? fallbackPrimary, background, direction),
    ]),
  );

const colorsOfTypes: ReadonlyMap<string, string> = new Map([
  ['warning', lightSignals.warn],
  ['critical', lightSignals.bad],
]);

/** Colours of the banner. Empty if it names none: then it has the colours of the accent. */
function bannerColors(banner: SiteSettings['banner'], mode: 'light' | 'dark'): Record<string, string> {
  const surface = fromHex(banner?.color?.[mode] ?? '') ?? fromHex(colorsOfTypes.get(banner?.type ?? '') ?? '');
  if (surface === undefined) return {};
  return { banner: toHex(surface), 'on-banner': onSurface(surface)['on-accent'] };
}

/**
 * Colours of text on a surface, with a contrast of at least 4.5:1: white if its contrast is high enough, otherwise black. The hover colour increases
 * the contrast, or is the project's colour if that differs from the surface and is readable.
 */
function onSurface(surface: Oklch, named = ''): { 'on-accent': string; 'accent-hover': string } {
  const isDark = contrast('#ffffff', toHex(surface)) >= 4.5;
  const own = fromHex(named);
  const text = isDark ? '#ffffff' : '#000000';
  if (own !== undefined && toHex(own) !== toHex(surface) && contrast(text, toHex(own)) >= 4.5)
    return { 'on-accent': text, 'accent-hover': toHex(own) };
  const hover = toHex({ ...surface, l: isDark ? Math.max(0, surface.l - 0.04) : Math.min(1, surface.l + 0.04) });
  return { 'on-accent': text, 'accent-hover': hover };
}

const variables = (colors: Record<string, string>): string =>
  Object.entries(colors)
    .map(([name, value]) => `  --${name}: ${value};\n`)
    .join('');

/** Lightness 0–1, chroma 0–0.4, hue in degrees. */
type Oklch = { l: number; c: number; h: number };
type Rgb = [number, number, number];

/** Parses `#abc`, `#aabbcc` or `#aabbccdd` (transparency is ignored); undefined for anything else. */
export function fromHex(hex: string): Oklch | undefined {
  const digits = /^#([0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})$/i.exec(hex.trim())?.[1];
  if (digits === undefined) return undefined;
  const full = digits.length === 3 ? digits.replace(/./g, '$&$&') : digits;
  const channel = (at: number) => linear(Number.parseInt(full.slice(at, at + 2), 16) / 255);
  return fromLinear([channel(0), channel(2), channel(4)]);
}

/** A colour as six hex digits. The chroma of a colour outside of sRGB is reduced until it fits. */
export function toHex(color: Oklch): string {
  let { c } = color;
  let rgb = toLinear(color);
  while (c > 0 && rgb.some((value) => value < -0.0005 || value > 1.0005)) {
    c = Math.max(0, c - 0.004);
    rgb = toLinear({ ...color, c });
  }
  return `#${rgb
    .map((value) =>
      Math.round(gamma(Math.min(1, Math.max(0, value))) * 255)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`;
}

/** WCAG 2 contrast of two colours in hex, 1 to 21. */
export function contrast(a: string, b: string): number {
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}

/** The nearest darker or lighter shade of a colour with the wanted contrast to a background. */
function readable(color: Oklch, background: string, direction: 'darker' | 'lighter', wanted = 4.6): string {
  let { l } = color;
  for (let step = 0; step < 100; step++) {
    const hex = toHex({ ...color, l });
    if (contrast(hex, background) >= wanted) return hex;
    l = Math.min(1, Math.max(0, l + (direction === 'darker' ? -0.01 : 0.01)));
  }
  return direction === 'darker' ? '#000000' : '#ffffff';
}

function luminance(hex: string): number {
  const channel = (at: number) => linear(Number.parseInt(hex.slice(at, at + 2), 16) / 255);
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

const linear = (value: number): number => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
const gamma = (value: number): number => (value <= 0.0031308 ? value * 12.92 : 1.055 * value ** (1 / 2.4) - 0.055);

/** Conversion with Björn Ottosson's matrices, bottosson.github.io/posts/oklab. */
function fromLinear([r, g, b]: Rgb): Oklch {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  const a = 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s;
  const bb = 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s;
  return {
    l: 0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    c: Math.hypot(a, bb),
    h: ((Math.atan2(bb, a) * 180) / Math.PI + 360) % 360,
  };
}

function toLinear({ l, c, h }: Oklch): Rgb {
  const a = c * Math.cos((h * Math.PI) / 180);
  const b = c * Math.sin((h * Math.PI) / 180);
  const long = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const middle = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (l - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * middle + 1.707614701 * short,
  ];
}
