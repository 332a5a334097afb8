import { accessKeptDays } from '#shared/subjects/subject-table.ts';

const dayMs = 86_400_000;

/** The first day (`yyyy-mm-dd`, UTC) of which read models may hold records of access now: none of its records is gone yet. Pure. */
export function firstKeptDay(now: Date): string {
  return new Date(now.getTime() - (accessKeptDays - 1) * dayMs).toISOString().slice(0, 10);
}
