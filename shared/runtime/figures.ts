const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** `0 s`, `80 ms`, `3.2 s`, `41 s`, `2 min 5 s`, `1 h 4 min`. Pure. */
export function formatDuration(ms: number): string {
  const whole = Math.round(ms);
  if (whole === 0) return '0 s';
  if (whole < 1_000) return `${whole} ms`;
  if (whole < 10_000) return `${trimmed(whole / 1_000, 2)} s`;
  if (whole < minuteMs) return `${trimmed(whole / 1_000, 1)} s`;
  if (whole < hourMs) return joined(Math.floor(whole / minuteMs), 'min', Math.floor((whole % minuteMs) / 1_000), 's');
  return joined(Math.floor(whole / hourMs), 'h', Math.floor((whole % hourMs) / minuteMs), 'min');
}

const trimmed = (value: number, digits: number): string => String(Number(value.toFixed(digits)));

const joined = (large: number, largeUnit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;

/** `12,345`, in every locale. Pure. */
export const formatNumber = (value: number): string => value.toLocaleString('en-US');

/** `1 page`, `2,000 pages`, `3 histories`. Pure. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${formatNumber(count)} ${count === 1 ? one : many}`;

/** `812 bytes`, `3.4 MB`. Pure. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes / 1_000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${trimmed(value, value < 10 ? 1 : 0)} ${units[unit]}`;
}

/** Untrusted text on one line, without control characters for the terminal. Pure. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim();
}
