import { sha256Of } from '#shared/canonical-json/sha256-of.ts';

const hexDigits = 32;

/** The name of a project's content: the same files have the same, whatever archive they came in. Pure. */
export function contentVersionOf(files: readonly { path: string; sha256: string }[]): string {
  const lines = files.map(({ path, sha256 }) => `${path}\0${sha256}\n`).sort();
  return `cv_${sha256Of(lines.join('')).slice(0, hexDigits)}`;
}
