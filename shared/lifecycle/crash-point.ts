import { openSync } from 'node:fs';

/** Named places at which a process can be made to die, so that tests can show that nothing is lost there. */
export const crashPoints = [
  'after-request-append',
  'after-plan-object',
  'after-plan-commit',
  'after-task-publish',
  'after-segment-put',
  'after-sidecar-put',
  'after-fact',
  'before-ack',
  'mid-upload',
  'after-upload',
  'after-bundle-fact',
  'after-completed',
] as const;

export type CrashPoint = (typeof crashPoints)[number];

/**
 * Kills this process with SIGKILL if the environment says so: `CRASH_AT=<name>` or `CRASH_AT=<name>@<service>`. With `CRASH_ONCE_FILE`
 * only the first process that gets there dies: it creates the file, and whoever finds it lives.
 */
export function crashPoint(name: CrashPoint, service: string): void {
  const wanted = process.env.CRASH_AT;
  if (wanted === undefined || (wanted !== name && wanted !== `${name}@${service}`)) return;
  const onceFile = process.env.CRASH_ONCE_FILE;
  if (onceFile !== undefined && !createFile(onceFile)) return;
  process.kill(process.pid, 'SIGKILL');
  // The signal is handled by the kernel on the way out of the call; nothing after this line may run.
  for (;;);
}

function createFile(path: string): boolean {
  try {
    openSync(path, 'wx');
    return true;
  } catch {
    return false;
  }
}
