/** Lines at the bottom of a terminal that are drawn over themselves. */
export type LiveArea = { draw(lines: readonly string[]): void };

const escape = '\u001b[';

export function liveArea(stream: { write(text: string): unknown }): LiveArea {
  let drawn = 0;
  return {
    draw(lines) {
      stream.write(drawnOver(drawn, lines));
      drawn = lines.length;
    },
  };
}

/**
 * What a terminal needs to show `lines` in place of the `before` lines above the cursor. Lines that are too long are cut by the terminal,
 * so that each stays one line. Pure.
 */
export function drawnOver(before: number, lines: readonly string[]): string {
  const up = before === 0 ? '' : `${escape}${before}A\r`;
  return `${up}${escape}?7l${lines.map((line) => `${escape}2K${line}\n`).join('')}${escape}J${escape}?7h`;
}
