/** One line that is drawn over itself on a terminal, and one line per whole tenth elsewhere. */
export type ProgressBar = { show(progress: number, text: string): void; end(text: string): void };

const width = 30;

/** `━━━━━━━━────`, as many columns as asked for. Pure. */
export function bar(progress: number, columns: number): string {
  const filled = Math.round((Math.min(100, Math.max(0, progress)) / 100) * columns);
  return `${'━'.repeat(filled)}${'─'.repeat(columns - filled)}`;
}

/** The bar as text: `━━━━━━━━──── 40.0 %  text`. Pure. */
export function drawBar(progress: number, text: string): string {
  return `${bar(progress, width)} ${progress.toFixed(1).padStart(5)} %  ${text}`;
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
