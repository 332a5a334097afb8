import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

const folders = ['services', 'shared', 'infra', 'test'];
/** The strings of test/structure are examples, not imports. */
const notJudged = /(^|\/)node_modules\/|^infra\/docs\/|^test\/structure\//;

/** The text of every source file by its path from the root of the repository. */
export function sourceFiles(): Map<string, string> {
  const names = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
      `${folder}/${name}`.replaceAll('\\', '/'),
    ),
  );
  const files = names.filter((name) => /\.(ts|mts|mjs)$/.test(name) && !notJudged.test(name));
  return new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
}
