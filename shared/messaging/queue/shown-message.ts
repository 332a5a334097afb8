import { jsonIn } from '#shared/runtime/canonical-json.ts';

/** The logs whose messages operators see. The others hold what readers asked, or tasks that are not kept. */
export const shownStreams: ReadonlySet<string> = new Set([
  ...(['EXPORTS', 'FACTS', 'CONTENT', 'SITES', 'DIRECTORY', 'ACCESS', 'VIEWS'] as const),
]);

const hidden = '•••';

/**
 * Texts in messages that let others in: passwords' hashes, which can be guessed, API keys, and values of fields that are named after a secret. A hash of
 * an API key is none, because a key is too long to be guessed.
 */
const secrets: readonly (readonly [pattern: RegExp, shown: string])[] = [
  [/\bscrypt:\d+:\d+:\d+:[\w-]+:[\w-]+/g, `scrypt:${hidden}`],
  [/\bsvc_[0-9A-Za-z_]{20,}/g, `svc_${hidden}`],
  [/("[^"\\]*(?:secret|password|token)[^"\\]*"\s*:\s*)"(?:[^"\\]|\\.)*"/gi, `$1"${hidden}"`],
];

/** A stored text without its secrets. Pure. */
export const withoutSecrets = (text: string): string =>
  secrets.reduce((shown, [pattern, instead]) => shown.replaceAll(pattern, instead), text);

/** A stored message for people: JSON is indented, secrets are hidden, and the text has at most `mostCharacters`. Pure. */
export function shownMessage(
  text: string,
  mostCharacters: number,
): { text: string; sizeBytes: number; isCut: boolean } {
  const parsed = jsonIn(text);
  const whole = withoutSecrets(parsed === undefined ? text : JSON.stringify(parsed, undefined, 2));
  const isCut = whole.length > mostCharacters;
  // The cut leaves no half of a character.
  const shown = isCut ? whole.slice(0, mostCharacters).replace(/[\uD800-\uDBFF]$/, '') : whole;
  return { text: shown, sizeBytes: Buffer.byteLength(text), isCut };
}
