/** Where commands write: answers to standard output, what happens meanwhile to standard error, and with `--json` only JSON to the former. */
export type Output = {
  json: boolean;
  /** The command's result: `value` with `--json`, `text` for people. */
  result(value: unknown, text: string): void;
  /** News along the way; silent with `--json`. */
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
