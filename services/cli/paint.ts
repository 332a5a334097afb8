import { styleText } from 'node:util';

export type PaintStyle = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan' | 'gray';

/** Gives text a colour, or not. */
export type Paint = (style: PaintStyle, text: string) => string;

export const noPaint: Paint = (_, text) => text;

/** Colours where they can be seen: on a terminal, unless `NO_COLOR` is set. */
export function paintFor(stream: { isTTY?: boolean }, environment: Record<string, string | undefined>): Paint {
  if (stream.isTTY !== true || (environment.NO_COLOR ?? '') !== '' || environment.TERM === 'dumb') return noPaint;
  return (style, text) => styleText(style, text, { validateStream: false });
}
