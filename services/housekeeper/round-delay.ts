const firstAfterMs = 30_000;
const firstJitterMs = 60_000;
const jitterShare = 0.1;

/**
 * How long to wait before a round, the first being 1. Whatever started together (installations on one host, or on one object store) shall
 * not sweep together: `random`, from 0 to 1, moves the first round by up to a minute and later ones by up to a tenth either way. Pure.
 */
export function roundDelayMs(round: number, everyMs: number, random: number): number {
  if (round === 1) return firstAfterMs + random * firstJitterMs;
  return everyMs * (1 + jitterShare * (2 * random - 1));
}
