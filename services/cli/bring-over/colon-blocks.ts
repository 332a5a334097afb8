import { attributeText, calloutOf, type LineSink } from './page-lines.ts';

const start = /^(\s*)(:{3,})\s*([\w-]+)\s*(.*)$/;
const end = /^\s*:{3,}\s*$/;

/** Turns blocks such as `:::note[Title]` and `::: details Title` into components, and code groups into tabs of code. */
export function colonBlocks(sink: LineSink): { open(line: string, at: number): boolean; end(at: number): void } {
  const open: string[] = [];
  const openOrClose = (line: string, at: number): boolean => {
    if (end.test(line) && open.length > 0) {
      sink.tag(open.pop() ?? '', at);
      return true;
    }
    const [, indent = '', , kind = '', rest = ''] = start.exec(line) ?? [];
    if (kind === '') return false;
    const title = (
      /^\[(.*)\]/.exec(rest)?.[1] ??
      /title="([^"]*)"/.exec(rest)?.[1] ??
      rest.replace(/\{.*\}\s*$/, '')
    ).trim();
    if (kind === 'code-group') {
      sink.tag(`${indent}<CodeGroup>`, at);
      open.push(`${indent}</CodeGroup>`);
      return true;
    }
    if (kind === 'details') {
      sink.tag(`${indent}<Accordion title=${attributeText(title || 'Details')}>`, at);
      open.push(`${indent}</Accordion>`);
      return true;
    }
    const component = calloutOf(kind);
    if (component === undefined)
      sink.left(at, `There is no counterpart of the block "${kind}", so its content stands alone`);
    sink.tag(component === undefined ? '' : `${indent}<${component}>`, at);
    if (title !== '') sink.line(`${indent}**${title}**\n`, at);
    open.push(component === undefined ? '' : `${indent}</${component}>`);
    return true;
  };
  return {
    open: openOrClose,
    /** Closes the blocks that the page leaves open. */
    end(at) {
      if (open.length > 0) sink.left(at, 'A block with ":::" is never closed, so it ends with the page');
      for (const tag of open.splice(0).reverse()) sink.tag(tag, at);
    },
  };
}
