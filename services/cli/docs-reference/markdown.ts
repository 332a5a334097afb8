/** Source of a page of our documentation. `parts` are paragraphs, headings and tables. */
export function page(title: string, description: string, ...parts: readonly string[]): string {
  const head = `---\ntitle: ${title}\ndescription: ${description}\n---\n\n{/* Generated: npm run docs:reference */}`;
  return `${[head, ...parts].join('\n\n')}\n`;
}

/** A table. Cells are Markdown and are not escaped. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

export const code = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``;

/** Plain text, escaped for MDX: it starts no element, expression or cell. */
export const plain = (text: string): string => text.replaceAll(/[\\{}<|*_`]/g, (character) => `\\${character}`);
