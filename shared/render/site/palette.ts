import type { SiteSettings } from '#shared/docs-project/site-settings.ts';
import { contrast, fromHex, type Oklch, readable, toHex } from './oklch.ts';

const FALLBACK: Oklch = { l: 0.55, c: 0.15, h: 250 };

/**
 * Colours of a site as CSS variables, all from the primary colour: two neutral ramps with a trace of its hue, and shades for text that
 * have 4.5:1 on their background in both modes. The original stays for surfaces.
 */
export function paletteCss(colors: SiteSettings['colors']): string {
  const primary = fromHex(colors.primary) ?? FALLBACK;
  const onDark = fromHex(colors.light ?? '') ?? primary;
  const hue = primary.c < 0.01 ? 250 : primary.h;
  const neutral = (l: number, c: number) => toHex({ l, c: primary.c < 0.01 ? 0 : c, h: hue });

  const light = {
    bg: '#ffffff',
    surface: neutral(0.982, 0.004),
    raised: '#ffffff',
    sunken: neutral(0.965, 0.006),
    line: neutral(0.915, 0.007),
    'line-strong': neutral(0.84, 0.01),
    text: neutral(0.27, 0.015),
    strong: neutral(0.19, 0.018),
    muted: readable({ l: 0.5, c: 0.015, h: hue }, neutral(0.965, 0.006), 'darker', 4.6),
    accent: toHex(primary),
    'accent-text': readable(primary, neutral(0.965, 0.006), 'darker'),
  };
  const ground = neutral(0.155, 0.008);
  const raised = neutral(0.195, 0.01);
  const dark = {
    bg: ground,
    surface: neutral(0.178, 0.009),
    raised,
    sunken: neutral(0.21, 0.01),
    line: 'rgb(255 255 255 / 0.09)',
    'line-strong': 'rgb(255 255 255 / 0.18)',
    text: neutral(0.855, 0.008),
    strong: neutral(0.96, 0.005),
    muted: readable({ l: 0.68, c: 0.012, h: hue }, neutral(0.21, 0.01), 'lighter', 4.6),
    accent: toHex(onDark),
    'accent-text': readable(onDark, neutral(0.21, 0.01), 'lighter'),
  };
  return `:root {\n${variables({ ...light, 'on-accent': onColor(light.accent) })}}\n\n:root.dark {\n${variables({ ...dark, 'on-accent': onColor(dark.accent) })}}\n`;
}

/** Text on a surface of the colour: the one of black and white that is read better. */
const onColor = (surface: string): string => (contrast('#ffffff', surface) >= 3.6 ? '#ffffff' : '#0b0d10');

const variables = (colors: Record<string, string>): string =>
  Object.entries(colors)
    .map(([name, value]) => `  --${name}: ${value};\n`)
    .join('');
