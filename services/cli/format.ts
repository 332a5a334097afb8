import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { counted, printable } from '#shared/runtime/figures.ts';
import { noPaint, type Paint } from './terminal.ts';

const severityStyles = { error: 'red', warning: 'yellow', info: 'blue' } as const;

/** `file:line:column: severity code: sentence`, as compilers print it. Pure. */
export function diagnosticLine(diagnostic: Diagnostic, paint: Paint = noPaint): string {
  const { file, line, column, severity, code, message } = diagnostic;
  const place = [printable(file), line, column].filter((part) => part !== undefined && part !== '').join(':');
  return `${place === '' ? '' : `${place}: `}${paint(severityStyles[severity], severity)} ${code}: ${printable(message)}`;
}

/** `2 errors, 1 warning`; `no problems`. Pure. */
export function diagnosticCounts(diagnostics: readonly Diagnostic[]): string {
  const counts = (['error', 'warning', 'info'] as const).flatMap((severity) => {
    const count = diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
    return count === 0 ? [] : [counted(count, severity === 'info' ? 'remark' : severity)];
  });
  return counts.length === 0 ? 'no problems' : counts.join(', ');
}
