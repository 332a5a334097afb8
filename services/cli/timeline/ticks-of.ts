const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

const steps = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * second),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * minute),
  hour,
];

/** Round moments between 0 and `durationMs`, `most` at the most, evenly apart. Pure. */
export function ticksOf(durationMs: number, most: number): number[] {
  const step = steps.find((candidate) => durationMs / candidate < most) ?? Math.ceil(durationMs / most / hour) * hour;
  return Array.from({ length: Math.floor(durationMs / step) + 1 }, (_, index) => index * step);
}
