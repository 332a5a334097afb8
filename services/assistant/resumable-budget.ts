const minuteMs = 60_000;
/** Retention of the parts in the stream. */
const keptMinutes = 10;
/** Storage that a part takes beside its text: subject, fields, and the index of the server. */
const bytesOfPart = 400;

/**
 * The bytes that this process has stored for each organization in the last ten minutes. An organization that exceeds its budget gets answers as before,
 * but they cannot be resumed, so it never takes the room of others. `now`: milliseconds of any clock that does not go back.
 */
export function resumableBudget(mostBytes: number, now: () => number = () => performance.now()) {
  const spent = new Map<string, Map<number, number>>();

  function minutesOf(organization: string): Map<number, number> {
    const minutes = spent.get(organization) ?? new Map<number, number>();
    const oldest = Math.floor(now() / minuteMs) - keptMinutes;
    for (const minute of minutes.keys()) if (minute < oldest) minutes.delete(minute);
    return minutes;
  }

  return {
    /** Counts a part if there is room for it. `textBytes`: its text as it is stored, in bytes. */
    take(organization: string, textBytes: number): boolean {
      const minutes = minutesOf(organization);
      const bytes = bytesOfPart + textBytes;
      const sum = minutes.values().reduce((before, each) => before + each, 0);
      if (sum + bytes > mostBytes) {
        if (minutes.size === 0) spent.delete(organization);
        return false;
      }
      const minute = Math.floor(now() / minuteMs);
      minutes.set(minute, (minutes.get(minute) ?? 0) + bytes);
      spent.set(organization, minutes);
      return true;
    },
  };
}

export type ResumableBudget = ReturnType<typeof resumableBudget>;
