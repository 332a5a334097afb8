import { CORE_SCHEMA, load } from 'js-yaml';

/** The frontmatter of a page; empty if it has none or it cannot be read, which is reported when the page is converted. */
export function frontOf(text: string): Record<string, unknown> {
  const [, yaml] = /^\ufeff?---[ \t]*\n([\s\S]*?)\n?---[ \t]*(?:\n|$)/.exec(text) ?? [];
  try {
    const value: unknown = yaml === undefined ? undefined : load(yaml, { schema: CORE_SCHEMA });
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
