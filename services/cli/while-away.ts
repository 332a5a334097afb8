import { setTimeout as delay } from 'node:timers/promises';
import { ApiFailure } from './api-client.ts';

const retryMs = 250;
const deadlineMs = 60_000;

/** Repeats a harmless call for as long as the server cannot be reached or says that a needed system is down, up to a minute. */
export async function whileAway<T>(call: () => Promise<T>): Promise<T> {
  for (const deadline = performance.now() + deadlineMs; ; await delay(retryMs)) {
    try {
      return await call();
    } catch (error) {
      const away = error instanceof ApiFailure && (error.code === 'unreachable' || error.code === 'unavailable');
      if (!away || performance.now() > deadline) throw error;
    }
  }
}
