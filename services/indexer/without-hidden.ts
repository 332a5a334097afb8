import type { Element, Root } from 'hast';

/** The tree without what its author hides from readers, so that nobody finds or is told what the page does not show. Changes the tree. */
export function withoutHidden(tree: Root): Root {
  prune(tree);
  return tree;
}

function prune(parent: Root | Element): void {
  parent.children = parent.children.filter(
    (child) => child.type !== 'element' || !isHidden(child),
  ) as typeof parent.children;
  for (const child of parent.children) if (child.type === 'element') prune(child);
}

/** Classes that hide in every mode; `hidden dark:block` is shown to those who read in the dark. */
const hidingClasses = new Set(['hidden', 'invisible', 'sr-only', 'opacity-0', 'text-transparent']);

function isHidden({ properties }: Element): boolean {
  if (properties.hidden === true || properties.hidden === '') return true;
  const classes = Array.isArray(properties.className) ? properties.className.map(String) : [];
  const isShownSometimes = classes.some((name) => /:(block|flex|grid|inline|visible|not-sr-only)/.test(name));
  if (!isShownSometimes && classes.some((name) => hidingClasses.has(name))) return true;
  return /display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?![.\d])|font-size\s*:\s*0(?![.\d])/i.test(
    properties.style ?? '',
  );
}
