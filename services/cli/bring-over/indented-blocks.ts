import { attributeText, calloutOf, type LineSink } from './page-lines.ts';

const admonition = /^(\s*)(!!!|\?\?\?\+?)\s+([\w-]+)((?:\s+[\w-]+)*)(?:\s+"(.*)")?\s*$/;
const tab = /^(\s*)===[+!]?\s+"(.*)"\s*$/;

/** Indentation of the content of a block. */
const inside = 4;

type Block = { indent: number; close: string; isTab: boolean };

/**
 * Turns the indented blocks of MkDocs into components: `!!! note "Title"`, `??? note` that folds, and `=== "Tab"`. `open` gets every line that is not
 * code, `within` takes the indentation of the blocks off any line and ends those that it does not belong to.
 */
export function indentedBlocks(sink: LineSink) {
  const blocks: Block[] = [];
  /** Indentation of a set of tabs whose last tab has ended, while another may follow. */
  let tabs: string | undefined;

  function close(at: number): void {
    const block = blocks.pop();
    if (block === undefined) return;
    sink.tag(block.close, at);
    if (block.isTab) tabs = ' '.repeat(block.indent);
  }

  function endTabs(at: number): void {
    if (tabs !== undefined) sink.tag(`${tabs}</Tabs>`, at);
    tabs = undefined;
  }

  return {
    within(line: string, at: number): string {
      if (line.trim() === '') return '';
      const indent = line.length - line.trimStart().length;
      while (blocks.length > 0 && indent - inside * (blocks.length - 1) < (blocks.at(-1)?.indent ?? 0) + inside) {
        endTabs(at);
        close(at);
      }
      const shown = line.slice(Math.min(indent, inside * blocks.length));
      const isNextTab = tab.exec(shown)?.[1] === tabs;
      if (tabs !== undefined && !isNextTab) endTabs(at);
      return shown;
    },
    open(line: string, at: number): boolean {
      const [, tabIndent, tabTitle = ''] = tab.exec(line) ?? [];
      if (tabIndent !== undefined) {
        if (tabs === undefined) sink.tag(`${tabIndent}<Tabs>`, at);
        tabs = undefined;
        sink.tag(`${tabIndent}<Tab title=${attributeText(tabTitle)}>`, at);
        blocks.push({ indent: tabIndent.length, close: `${tabIndent}</Tab>`, isTab: true });
        return true;
      }
      const [, indent, mark = '', kind = '', , title] = admonition.exec(line) ?? [];
      if (indent === undefined) return false;
      const component = calloutOf(kind);
      if (mark !== '!!!') {
        const isOpen = mark.endsWith('+') ? ' defaultOpen' : '';
        const shown = attributeText(title || kind.charAt(0).toUpperCase() + kind.slice(1));
        sink.tag(`${indent}<Accordion title=${shown}${isOpen}>`, at);
        blocks.push({ indent: indent.length, close: `${indent}</Accordion>`, isTab: false });
        return true;
      }
      const shown = component ?? 'Note';
      if (component === undefined)
        sink.left(at, `There is no counterpart of the admonition "${kind}", so it became a note`);
      sink.tag(`${indent}<${shown}>`, at);
      if (title !== undefined && title !== '') sink.line(`${indent}**${title}**\n`, at);
      blocks.push({ indent: indent.length, close: `${indent}</${shown}>`, isTab: false });
      return true;
    },
    end(at: number): void {
      while (blocks.length > 0 || tabs !== undefined) {
        endTabs(at);
        close(at);
      }
    },
  };
}
