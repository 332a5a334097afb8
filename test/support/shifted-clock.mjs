/*
 * Loaded before anything else (`--import <this file>?file=<path>`): shifts the clock of a process that runs a service by the milliseconds in a JSON
 * file such as `{"gateway":-3600000}`. The clock jumps when the file changes. Monotonic time continues, as on a machine whose clock is wrong.
 */
import { readFileSync } from 'node:fs';

const file = new URL(import.meta.url).searchParams.get('file');
const [, , command, services = ''] = process.argv;
const readEveryMs = 20;
let readAt = Number.NEGATIVE_INFINITY;
let aheadMs = 0;

function shiftMs() {
  const now = performance.now();
  if (now - readAt > readEveryMs) {
    readAt = now;
    const shifts = JSON.parse(readFileSync(file, 'utf8'));
    aheadMs = services.split(',').flatMap((name) => shifts[name] ?? [])[0] ?? 0;
  }
  return aheadMs;
}

if (command === 'run') {
  const System = globalThis.Date;
  globalThis.Date = class Date extends System {
    constructor(...of) {
      super(...(of.length === 0 ? [System.now() + shiftMs()] : of));
    }
    static now() {
      return System.now() + shiftMs();
    }
  };
}
