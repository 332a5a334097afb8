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
  /** The sum of the bars in words, beside the title. */
  total?: string;
  /** Words for a value; by default the number. */
  format?: (value: number) => string;
};

const size = { width: 340, height: 160 };
const inset = { left: 62, right: 8, top: 10, bottom: 24 };
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

const mostOf = (bars: readonly Bar[]): number => Math.max(0, ...bars.map(({ value }) => value ?? 0));

/** Values above zero are at least a line high, so that they differ from zero. */
const heightOf = (value: number | undefined, end: number, whole: number): number =>
  value === undefined || value === 0 ? 0 : Math.max(1.5, (value / end) * whole);

/** A bar plot with one series, zero and both axes, and its figures as a table, which screen readers get instead of the picture. Pure. */
export function plot({ title, unit, bars, of, total, format = count }: Plot): SafeHtml {
  const most = mostOf(bars);
  const end = roundMost(most);
  const inner = { width: size.width - inset.left - inset.right, height: size.height - inset.top - inset.bottom };
  const floor = inset.top + inner.height;
  const slot = inner.width / Math.max(1, bars.length);
  const every = Math.ceil(bars.length / mostLabels);
  return html`<figure class="plot"><figcaption>${title}${total === undefined ? '' : html` <strong>${total}</strong>`}</figcaption>
<svg viewBox="0 0 ${size.width} ${size.height}" aria-hidden="true" focusable="false">
${(most === 0 ? [0] : marksOf(end)).map((mark) => {
  const y = rounded(floor - (mark / end) * inner.height);
  return html`<line x1="${inset.left}" x2="${size.width - inset.right}" y1="${y}" y2="${y}" class="${mark === 0 ? 'zero' : 'grid'}"/><text x="${inset.left - 8}" y="${y}" dy="4" text-anchor="end">${format(mark)}</text>`;
})}
${bars.map(({ value, short, name }, at) => {
  const x = inset.left + at * slot;
  const height = heightOf(value, end, inner.height);
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

const small = { width: 124, height: 28 };

/** The bars of a plot alone, as high as a line of text, for a tile or a row. Screen readers get its figures as a table. Pure. */
export function sparkline({ title, unit, bars, of, format = count }: Plot): SafeHtml {
  const end = Math.max(1, mostOf(bars));
  const slot = small.width / Math.max(1, bars.length);
  const floor = small.height - 1;
  return html`<span class="sparkline"><svg viewBox="0 0 ${small.width} ${small.height}" width="${small.width}" height="${small.height}" aria-hidden="true" focusable="false">
<line x1="0" x2="${small.width}" y1="${floor}" y2="${floor}"/>
${bars.map(({ value, name }, at) => {
  const height = heightOf(value, end, floor - 1);
  return html`<rect x="${rounded(at * slot + slot * 0.12)}" y="${rounded(floor - height)}" width="${rounded(slot * 0.76)}" height="${rounded(height)}"><title>${name}: ${value === undefined ? 'not known' : format(value)}</title></rect>`;
})}
</svg><table class="unseen"><caption>${title}</caption><thead><tr><th scope="col">${of}</th><th scope="col">${unit}</th></tr></thead><tbody>${bars.map(
    ({ name, value }) =>
      html`<tr><th scope="row">${name}</th><td>${value === undefined ? 'not known' : format(value)}</td></tr>`,
  )}</tbody></table></span>`;
}
