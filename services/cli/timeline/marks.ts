import type { Element } from 'hast';
import { s } from 'hastscript';
import type { Trouble } from './timeline.ts';

/** Signs of 16 by 16 around their middle, drawn with lines of the text's colour. */
const signs: Record<'failed' | 'timed-out' | 'segment-lost', string> = {
  failed: 'M-3.2-3.2 3.2 3.2M3.2-3.2-3.2 3.2',
  'timed-out': 'M0-3.4V0.2L2.4 1.9',
  'segment-lost': 'M2.9-2.2A3.7 3.7 0 1 0 3.7 0.6M3.4-4.3V-1.7H0.8',
};

type Sign = keyof typeof signs;

export const signOf = (kind: Trouble['kind']): Sign =>
  kind === 'timed-out' || kind === 'segment-lost' ? kind : 'failed';

export const signNames: Record<Sign, string> = {
  failed: 'attempt failed',
  'timed-out': 'timed out',
  'segment-lost': 'segment lost',
};

/** A round sign for a kind of trouble, 18 pixels wide, to stand in text. Pure. */
export function mark(kind: Trouble['kind']): Element {
  return s('svg', { viewBox: '-9 -9 18 18', width: 18, height: 18, ariaHidden: 'true' }, [sign(kind)]);
}

/** The sign alone, around the origin. Pure. */
export function sign(kind: Trouble['kind'], title?: string): Element {
  const name = signOf(kind);
  return s('g', { className: ['sign', name] }, [
    ...(title === undefined ? [] : [s('title', title)]),
    s('circle', { r: 7.5 }),
    s('path', { d: signs[name] }),
  ]);
}
