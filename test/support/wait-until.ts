import { vi } from 'vitest';

/** Resolves with the first truthy value of `look`. The limit of `vi.waitUntil` is a second, which a busy machine may need for anything; this one ends only what hangs. */
export const waitUntil = <T>(look: () => T | Promise<T>) => vi.waitUntil(look, { timeout: 60_000 });
