import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import { attribute, count, table } from './pieces.ts';

/** One bar of a plot. `value` is undefined where nothing is known, which is not the same as 0. */
export type Bar = {
  /** Name in the table, such as a day. */
  name: string;
  /** A short form for the axis. */
  short: string;
  value: number | undefined;
};

type Plot = {
  title: string;
  /** Name of the counted things, such as `Exports`. */
  unit: string;
  bars: readonly Bar[];
  /** Head of the first column of the table. */
  of: string;
  /** Words for a value; by default the number. */
  format?: (value: number) => string;
};

const size = { width: 340, height: 160 };
const inset = { left: 52, right: 8, top: 10, bottom: 24 };
const mostLabels = 7;
const steps = [1, 2, 2.5, 5, 10];

/** The smallest round number that is at least `most`, and whole: 1, 2, 5, 10, 20, 25, 50, … Pure. */
export function roundMost(most: number): number {
  if (most <= 2) return Math.max(1, Math.ceil(most));
  const power = 10 ** Math.floor(Math.log10(most));
  const factor = steps.find((step) => step * power >= most && Number.isInteger(step * power)) ?? 10;
  return factor * power;
}

/** Marks of the vertical axis up to `end`: 0, the half if it is whole, and the end. Pure. */
export const marksOf = (end: number): number[] => (Number.isInteger(end / 2) ? [0, end / 2, end] : [0, end]);

const rounded = (value: number): string => String(Math.round(value * 10) / 10);

/** A bar plot with one series, zero and both axes, and its figures as a table, which screen readers get instead of the picture. Pure. */
export function plot({ title, unit, bars, of, format = count }: Plot): SafeHtml {
  const most = Math.max(0, ...bars.map(({ value }) => value ?? 0));
  const end = roundMost(most);
  const inner = { width: size.width - inset.left - inset.right, height: size.height - inset.top - inset.bottom };
  const floor = inset.top + inner.height;
  const slot = inner.width / Math.max(1, bars.length);
  const heightOf = (value: number) => (value / end) * inner.height;
  const every = Math.ceil(bars.length / mostLabels);
  return html`<figure class="plot"><figcaption>${title}</figcaption>
<svg viewBox="0 0 ${size.width} ${size.height}" aria-hidden="true" focusable="false">
${(most === 0 ? [0] : marksOf(end)).map((mark) => {
  const y = rounded(floor - heightOf(mark));
  return html`<line x1="${inset.left}" x2="${size.width - inset.right}" y1="${y}" y2="${y}" class="${mark === 0 ? 'zero' : 'grid'}"/><text x="${inset.left - 8}" y="${y}" dy="4" text-anchor="end">${format(mark)}</text>`;
})}
${bars.map(({ value, short, name }, at) => {
  const x = inset.left + at * slot;
  // Values above zero are at least a line high, so that they differ from zero.
  const height = value === undefined || value === 0 ? 0 : Math.max(1.5, heightOf(value));
  const words = value === undefined ? 'not known' : format(value);
  const label =
    at % every === 0
      ? html`<text x="${rounded(x + slot / 2)}" y="${size.height - 8}" text-anchor="middle">${short}</text>`
      : '';
  return html`<rect x="${rounded(x + slot * 0.15)}" y="${rounded(floor - height)}" width="${rounded(slot * 0.7)}" height="${rounded(height)}"><title>${name}: ${words}</title></rect>${label}`;
})}
</svg>
<details><summary${attribute('aria-label', `${title} as a table`)}>As a table</summary>${table(
    title,
    [
      { title: of, cell: ({ name }: Bar) => name },
      { title: unit, isNumber: true, cell: ({ value }: Bar) => (value === undefined ? 'not known' : format(value)) },
    ],
    bars,
  )}</details></figure>`;
}
