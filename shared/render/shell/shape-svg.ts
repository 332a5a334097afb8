import { iconShape } from '../content/icon-shapes.ts';
import { html, type SafeHtml } from './html.ts';

/** An icon for the shell; nothing where none of that name is drawn. */
export function shapeSvg(name: string, className: string): SafeHtml | undefined {
  const shape = iconShape(name);
  if (shape === undefined) return undefined;
  const classes = className === '' ? 'icon' : `icon ${className}`;
  return html`<svg class="${classes}" viewBox="0 0 24 24" fill="none" stroke="currentColor" aria-hidden="true"><path d="${shape}"></path></svg>`;
}
