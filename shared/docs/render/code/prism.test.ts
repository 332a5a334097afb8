import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** Prints all grammars, with the objects that they share, after the module has loaded. `first` is code that runs before that. */
function grammarsAfter(first: string): string {
  const program = `
    import { refractor } from 'refractor/core';
    const { languages } = refractor;
    ${first}
    await import(${JSON.stringify(new URL('./prism.ts', import.meta.url).href)});
    const places = new Map();
    const shown = (value) => {
      if (typeof value !== 'object' || value === null || value instanceof RegExp) return String(value);
      if (places.has(value)) return { same: places.get(value) };
      places.set(value, places.size);
      return Object.entries(value)
        .filter(([, part]) => typeof part !== 'function')
        .map(([name, part]) => [name, shown(part)]);
    };
    console.log(JSON.stringify(shown(languages)));
  `;
  const args = ['--input-type=module', '-e', program];
  const cwd = new URL('../../../../', import.meta.url);
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8', maxBuffer: 100_000_000 });
  if (stdout === '') throw new Error(stderr);
  return stdout;
}

test('grammars equal those that Prism makes with its full search for replaced ones', () => {
  const asItIs = `for (const name of ['insertBefore', 'DFS']) {
    const own = languages[name];
    Object.defineProperty(languages, name, { get: () => own, set: () => {}, enumerable: true });
  }`;
  const plain = grammarsAfter(asItIs);
  expect(plain.length).toBeGreaterThan(100_000);
  expect(grammarsAfter('') === plain).toBe(true);
});
