import { styleText } from 'node:util';

/** Output of commands: the result goes to standard output, progress to standard error. With `--json` there is only JSON, and no progress. */
export type Output = {
  json: boolean;
  /** The command's result: `value` with `--json`, `text` for people. */
  result(value: unknown, text: string): void;
  /** Progress messages; silent with `--json`. */
  note(text: string): void;
};

export function createOutput(json: boolean): Output {
  return {
    json,
    result: (value, text) => void process.stdout.write(json ? `${JSON.stringify(value)}\n` : `${text}\n`),
    note: (text) => {
      if (!json) process.stderr.write(`${text}\n`);
    },
  };
}

export type PaintStyle = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan' | 'gray';

/** Colours text, or returns it unchanged. */
export type Paint = (style: PaintStyle, text: string) => string;

export const noPaint: Paint = (_, text) => text;

/** Colours on a terminal, unless `NO_COLOR` is set. */
export function paintFor(stream: { isTTY?: boolean }, environment: Record<string, string | undefined>): Paint {
  if (stream.isTTY !== true || (environment.NO_COLOR ?? '') !== '' || environment.TERM === 'dumb') return noPaint;
  return (style, text) => styleText(style, text, { validateStream: false });
}

const widthOfOthers = 100;

/** Columns of a terminal. If the output is not a terminal: `COLUMNS`, or 100. */
export function terminalWidth(stream: { columns?: number }, columns = process.env.COLUMNS): number {
  const given = Number(columns);
  return stream.columns ?? (Number.isInteger(given) && given > 0 ? given : widthOfOthers);
}

/** Cells padded to the widest of their column, right-aligned where `isRight` is true. Pure. */
export function aligned(
  rows: readonly (readonly string[])[],
  isRight: (column: number) => boolean = () => false,
): string[][] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, { length }] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, length);
  }
  const pad = (cell: string, column: number) =>
    isRight(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0);
  return rows.map((row) => row.map(pad));
}

/** Rows under a head, two spaces between columns. Pure. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return aligned([head, ...rows])
    .map((cells) => cells.join('  ').trimEnd())
    .join('\n');
}

/** A progress line, redrawn in place on a terminal. Elsewhere, each tenth is a line of its own. */
export type ProgressBar = { show(progress: number, text: string): void; end(text: string): void };

const progressBarColumns = 30;

/** `━━━━━━━━────` with the given number of columns. Pure. */
export function progressGlyphs(progress: number, columns: number): string {
  const filled = Math.round((Math.min(100, Math.max(0, progress)) / 100) * columns);
  return `${'━'.repeat(filled)}${'─'.repeat(columns - filled)}`;
}

/** The bar as text: `━━━━━━━━──── 40.0 %  text`. Pure. */
export function drawBar(progress: number, text: string): string {
  return `${progressGlyphs(progress, progressBarColumns)} ${progress.toFixed(1).padStart(5)} %  ${text}`;
}

export function progressBar(stream: NodeJS.WriteStream): ProgressBar {
  if (stream.isTTY) {
    return {
      show: (progress, text) => stream.write(`\r\u001b[2K${drawBar(progress, text)}`),
      end: (text) => stream.write(`\r\u001b[2K${text}\n`),
    };
  }
  let lastTenth = -1;
  return {
    show(progress, text) {
      const tenth = Math.floor(progress / 10);
      if (tenth > lastTenth) stream.write(`${drawBar(progress, text)}\n`);
      lastTenth = Math.max(lastTenth, tenth);
    },
    end: (text) => void stream.write(`${text}\n`),
  };
}

/** Lines at the bottom of a terminal that are redrawn in place. */
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

/** The output that replaces the `before` lines above the cursor by `lines`. The terminal cuts long lines, so each stays one line. Pure. */
export function drawnOver(before: number, lines: readonly string[]): string {
  const up = before === 0 ? '' : `${escape}${before}A\r`;
  return `${up}${escape}?7l${lines.map((line) => `${escape}2K${line}\n`).join('')}${escape}J${escape}?7h`;
}
