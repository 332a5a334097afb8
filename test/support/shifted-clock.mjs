/*
 * Loaded before anything else (`--import <this file>?gateway=-3600000`): the clock of a process that runs one of the named services is that many
 * milliseconds ahead. Monotonic time runs on, as on a machine whose clock is wrong.
 */
const shifts = new URL(import.meta.url).searchParams;
const [, , , services = ''] = process.argv;
const shiftMs = Number(services.split(',').flatMap((name) => shifts.get(name) ?? [])[0] ?? 0);

if (shiftMs !== 0) {
  const System = globalThis.Date;
  globalThis.Date = class Date extends System {
    constructor(...of) {
      super(...(of.length === 0 ? [System.now() + shiftMs] : of));
    }
    static now() {
      return System.now() + shiftMs;
    }
  };
}
