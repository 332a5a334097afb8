import type { Element } from 'hast';
import { s } from 'hastscript';
import { iconShape } from './icon-shapes.ts';

/** An icon inline, so that it is there with the text. Nothing for one that is not known: the layout has no hole for it. */
export function icon(name: string | undefined, className: string): Element[] {
  const shape = name === undefined ? undefined : iconShape(name);
  if (shape === undefined) return [];
  return [
    s(
      'svg',
      {
        className: ['icon', className],
        viewBox: '0 0 24 24',
        fill: 'none',
        stroke: 'currentColor',
        ariaHidden: 'true',
      },
      [s('path', { d: shape })],
    ),
  ];
}
