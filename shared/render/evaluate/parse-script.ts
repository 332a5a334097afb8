import { Parser } from 'acorn';
import jsx from 'acorn-jsx';
import type { Program } from 'estree';

const parser = Parser.extend(jsx());

/** Syntax tree of a component file (`.jsx`), or why there is none. Runs nothing of it. */
export function parseScript(source: string): { program: Program } | { problem: string } {
  try {
    const options = { ecmaVersion: 2024, sourceType: 'module', locations: true } as const;
    return { program: parser.parse(source, options) as unknown as Program };
  } catch (error) {
    return { problem: (error instanceof Error ? error.message : String(error)).slice(0, 200) };
  }
}
