import type { Nodes } from 'hast';
import { voidElements } from '#shared/docs/render/content/write-content.ts';
import { escapeHtmlText, SafeHtml } from '#shared/docs/render/html.ts';
import { attributesText } from '#shared/docs/render/sanitize/safe-attributes.ts';

/** A drawing of ours as HTML. Names of elements and attributes are constants, and so is raw text such as a style sheet; all other text is escaped. Pure. */
export const drawnHtml = (node: Nodes): SafeHtml => new SafeHtml(written(node, false));

function written(node: Nodes, inDrawing: boolean): string {
  if (node.type === 'text') return escapeHtmlText(node.value);
  if (node.type === 'raw') return node.value;
  if (node.type !== 'element') return '';
  const { tagName, properties, children } = node;
  const isDrawn = inDrawing || tagName === 'svg';
  const start = `<${tagName}${attributesText(properties, isDrawn)}>`;
  if (voidElements.has(tagName)) return start;
  return `${start}${children.map((child) => written(child, isDrawn)).join('')}</${tagName}>`;
}
