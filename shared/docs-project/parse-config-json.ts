import { InvalidProject } from './invalid-project.ts';
import { type JsonValue, plainJson } from './plain-json.ts';
import { decodeSource } from './decode-source.ts';

export const MAX_CONFIG_BYTES = 5 * 1024 * 1024;
/** Brackets in brackets. A navigation of 32 levels needs about two for each. */
const MAX_CONFIG_NESTING = 64;

/** Reads a JSON file of the project's configuration. Throws `InvalidProject` (`bad-config`, `config-too-deep`, `config-too-large`). */
export function parseConfigJson(bytes: Uint8Array, file: string): JsonValue {
  if (bytes.byteLength > MAX_CONFIG_BYTES) {
    throw new InvalidProject(
      'config-too-large',
      file,
      `${file} is larger than 5 MB. Split it, or remove what is not needed.`,
    );
  }
  const { text } = decodeSource(bytes, file);
  if (nesting(text) >= MAX_CONFIG_NESTING) {
    const message = `${file} is nested deeper than ${MAX_CONFIG_NESTING} levels. Make its navigation flatter.`;
    throw new InvalidProject('config-too-deep', file, message);
  }
  try {
    return plainJson(JSON.parse(text));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new InvalidProject('bad-config', file, `${file} is not valid JSON: ${why.slice(0, 200)}`);
  }
}

function nesting(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') deepest = Math.max(deepest, (depth += 1));
    else if (character === '}' || character === ']') depth -= 1;
  }
  return deepest;
}
