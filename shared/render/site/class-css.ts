import type { RenderedPage } from '#shared/contracts/segment-sidecar.ts';
import { utilityRule } from './utility-rule.ts';

/** `_bindery/classes.css`: rules of the utility classes that the pages' content uses, and of no others. */
export function classCss(pages: readonly Pick<RenderedPage, 'classes'>[]): string {
  const used = [...new Set(pages.flatMap((page) => page.classes))].sort();
  const plain: string[] = [];
  const conditional: string[] = [];
  for (const name of used) {
    const rule = utilityRule(name);
    if (rule !== undefined) (rule.condition === undefined ? plain : conditional).push(rule.css);
  }
  return `${[...plain, ...conditional].join('\n')}\n`;
}
