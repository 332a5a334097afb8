import type { Diagnostic } from '#shared/contracts/diagnostic.ts';

const MAX_DIAGNOSTICS = 2000;
const MAX_MESSAGE = 500;

export type Report = (diagnostic: Diagnostic) => void;

/** Collects what an author should know; the first 2,000, then a count of the others. */
export function diagnosticList(): { report: Report; all: () => Diagnostic[] } {
  const kept: Diagnostic[] = [];
  let dropped = 0;
  return {
    report(diagnostic) {
      if (kept.length >= MAX_DIAGNOSTICS) dropped += 1;
      else kept.push({ ...diagnostic, message: diagnostic.message.slice(0, MAX_MESSAGE) });
    },
    all() {
      if (dropped === 0) return kept;
      const message = `${dropped} more problems are not listed. Solve these first.`;
      return [...kept, { severity: 'info', code: 'more-diagnostics', message, file: '' }];
    },
  };
}
