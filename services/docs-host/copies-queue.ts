import { messageOf } from '#shared/runtime/failures.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';

/** Makes one step of the copies that a site lacks. Resolves with true if it lacks more. */
type CopyStep = () => Promise<boolean>;

/** Pause before a step. Deployments that follow each other quickly then abort no step. */
const usualPauseMs = 1_000;

/**
 * Makes the compressed copies that versions lack, one step after the other, the sites by turns. Deployments go first: no step begins while `isBusy`. A step
 * that fails is logged and not repeated, because answers are then compressed for each reader.
 */
export function copiesQueue(
  isBusy: () => boolean,
  logger: Logger,
  signal: AbortSignal,
  pauseMs: number = usualPauseMs,
) {
  const waiting = new Map<string, CopyStep>();
  let timer: NodeJS.Timeout | undefined;
  let runs = false;

  function soon(): void {
    if (runs || timer !== undefined || waiting.size === 0 || signal.aborted) return;
    timer = setTimeout(() => {
      timer = undefined;
      if (isBusy()) soon();
      else void runNext();
    }, pauseMs);
    timer.unref();
  }

  async function runNext(): Promise<void> {
    const [site, step] = waiting.entries().next().value ?? [];
    if (site === undefined || step === undefined) return;
    runs = true;
    waiting.delete(site);
    try {
      if ((await step()) && !waiting.has(site)) waiting.set(site, step);
    } catch (error) {
      if (!signal.aborted) logger.warn({ site }, `the compressed copies of a site cannot be made: ${messageOf(error)}`);
    }
    runs = false;
    soon();
  }

  return {
    /** Adds a site whose version lacks copies. */
    add(site: string, step: CopyStep): void {
      if (!waiting.has(site)) waiting.set(site, step);
      soon();
    },
    remove: (site: string): void => void waiting.delete(site),
    size: (): number => waiting.size + (runs ? 1 : 0),
  };
}

export type CopiesQueue = ReturnType<typeof copiesQueue>;
