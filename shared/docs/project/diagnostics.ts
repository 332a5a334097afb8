import type { Finding, FindingCode } from '#shared/docs/findings/finding-texts.ts';

const maxDiagnostics = 2000;
const maxMessage = 500;

export type Report = (diagnostic: Finding) => void;

/** Collects diagnostics for an author: the first 2,000, then the number of the others. */
export function diagnosticList(): { report: Report; all: () => Finding[] } {
  const kept: Finding[] = [];
  let dropped = 0;
  return {
    report(diagnostic) {
      if (kept.length >= maxDiagnostics) dropped += 1;
      else kept.push({ ...diagnostic, message: diagnostic.message.slice(0, maxMessage) });
    },
    all() {
      if (dropped === 0) return kept;
      const message = `${dropped} more problems are not listed. Solve these first.`;
      return [...kept, { severity: 'info', code: 'more-diagnostics', message, file: '' }];
    },
  };
}

/** The files are not a docs project, or break a rule that publishing depends on. The message is for the author. */
export class InvalidProject extends Error {
  override name = 'InvalidProject';
  readonly code: FindingCode;
  readonly file: string;

  constructor(code: FindingCode, file: string, message: string) {
    super(message);
    this.code = code;
    this.file = file;
  }
}

const maxShown = 80;

/** An author's text for use in a message: control characters are escaped, and long text is cut. */
export function quoted(text: string): string {
  const shown = text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
  return JSON.stringify(shown.toWellFormed());
}
