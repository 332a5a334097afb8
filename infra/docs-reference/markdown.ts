/** A page of our documentation. Parts are paragraphs, headings and tables. */
export function page(title: string, description: string, ...parts: readonly string[]): string {
  const head = `---\ntitle: ${title}\ndescription: ${description}\n---\n\n{/* Generated: npm run docs:reference */}`;
  return `${[head, ...parts].join('\n\n')}\n`;
}

/** Cells are Markdown already. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

export const code = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``;

/** Plain text as MDX: nothing in it starts an element, an expression or a cell. */
export const plain = (text: string): string => text.replaceAll(/[\\{}<|*_`]/g, (character) => `\\${character}`);
