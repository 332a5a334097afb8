/** `_bindery/classes.css`: rules for the utility classes that the pages' content uses. */
export function classCss(classes: Iterable<string>): string {
  const used = [...new Set(classes)].sort();
  const plain: string[] = [];
  const conditional: string[] = [];
  for (const name of used) {
    const rule = utilityRule(name);
    if (rule !== undefined) (rule.condition === undefined ? plain : conditional).push(rule.css);
  }
  return `${[...plain, ...conditional].join('\n')}\n`;
}

/** A rule for one utility class; `condition` says when it applies (dark, wide screens, hover), if not always. */
type UtilityRule = { css: string; condition?: string };

const widths: ReadonlyMap<string, string> = new Map([
  ['sm', '640px'],
  ['md', '768px'],
  ['lg', '1024px'],
  ['xl', '1280px'],
  ['2xl', '1536px'],
]);

const fixedClasses: ReadonlyMap<string, string> = new Map(
  Object.entries({
    block: 'display: block',
    inline: 'display: inline',
    'inline-block': 'display: inline-block',
    flex: 'display: flex',
    'inline-flex': 'display: inline-flex',
    grid: 'display: grid',
    hidden: 'display: none',
    'flex-col': 'flex-direction: column',
    'flex-row': 'flex-direction: row',
    'flex-wrap': 'flex-wrap: wrap',
    'flex-1': 'flex: 1 1 0%',
    'flex-none': 'flex: none',
    grow: 'flex-grow: 1',
    'shrink-0': 'flex-shrink: 0',
    'items-start': 'align-items: flex-start',
    'items-center': 'align-items: center',
    'items-end': 'align-items: flex-end',
    'justify-start': 'justify-content: flex-start',
    'justify-center': 'justify-content: center',
    'justify-end': 'justify-content: flex-end',
    'justify-between': 'justify-content: space-between',
    'text-left': 'text-align: left',
    'text-center': 'text-align: center',
    'text-right': 'text-align: right',
    'font-normal': 'font-weight: 400',
    'font-medium': 'font-weight: 500',
    'font-semibold': 'font-weight: 600',
    'font-bold': 'font-weight: 700',
    'font-mono': 'font-family: var(--mono)',
    italic: 'font-style: italic',
    underline: 'text-decoration-line: underline',
    'no-underline': 'text-decoration-line: none',
    uppercase: 'text-transform: uppercase',
    truncate: 'overflow: hidden; text-overflow: ellipsis; white-space: nowrap',
    'whitespace-nowrap': 'white-space: nowrap',
    'w-full': 'width: 100%',
    'w-auto': 'width: auto',
    'w-1/2': 'width: 50%',
    'w-1/3': 'width: 33.333333%',
    'w-2/3': 'width: 66.666667%',
    'w-1/4': 'width: 25%',
    'w-3/4': 'width: 75%',
    'h-full': 'height: 100%',
    'h-auto': 'height: auto',
    'max-w-full': 'max-width: 100%',
    'mx-auto': 'margin-left: auto; margin-right: auto',
    'ml-auto': 'margin-left: auto',
    'mr-auto': 'margin-right: auto',
    relative: 'position: relative',
    'overflow-hidden': 'overflow: hidden',
    'overflow-x-auto': 'overflow-x: auto',
    'object-cover': 'object-fit: cover',
    'object-contain': 'object-fit: contain',
    'aspect-video': 'aspect-ratio: 16 / 9',
    'aspect-square': 'aspect-ratio: 1 / 1',
    border: 'border: 1px solid var(--line)',
    'border-0': 'border-width: 0',
    rounded: 'border-radius: 4px',
    'rounded-none': 'border-radius: 0',
    'rounded-sm': 'border-radius: 2px',
    'rounded-md': 'border-radius: 6px',
    'rounded-lg': 'border-radius: 8px',
    'rounded-xl': 'border-radius: 12px',
    'rounded-2xl': 'border-radius: 16px',
    'rounded-3xl': 'border-radius: 24px',
    'rounded-full': 'border-radius: 9999px',
    'text-xs': 'font-size: 0.75rem; line-height: 1rem',
    'text-sm': 'font-size: 0.875rem; line-height: 1.25rem',
    'text-base': 'font-size: 1rem; line-height: 1.5rem',
    'text-lg': 'font-size: 1.125rem; line-height: 1.75rem',
    'text-xl': 'font-size: 1.25rem; line-height: 1.75rem',
    'text-2xl': 'font-size: 1.5rem; line-height: 2rem',
    'text-3xl': 'font-size: 1.875rem; line-height: 2.25rem',
    'text-4xl': 'font-size: 2.25rem; line-height: 2.5rem',
    'text-white': 'color: #fff',
    'text-primary': 'color: var(--accent-text)',
    'bg-white': 'background-color: #fff',
    'bg-primary': 'background-color: var(--accent)',
    'list-none': 'list-style: none',
    'not-prose': '',
  }),
);

const spacingScale: ReadonlyMap<string, readonly string[]> = new Map([
  ['m', ['margin']],
  ['mx', ['margin-left', 'margin-right']],
  ['my', ['margin-top', 'margin-bottom']],
  ['mt', ['margin-top']],
  ['mr', ['margin-right']],
  ['mb', ['margin-bottom']],
  ['ml', ['margin-left']],
  ['p', ['padding']],
  ['px', ['padding-left', 'padding-right']],
  ['py', ['padding-top', 'padding-bottom']],
  ['pt', ['padding-top']],
  ['pr', ['padding-right']],
  ['pb', ['padding-bottom']],
  ['pl', ['padding-left']],
  ['gap', ['gap']],
  ['gap-x', ['column-gap']],
  ['gap-y', ['row-gap']],
  ['w', ['width']],
  ['h', ['height']],
  ['max-w', ['max-width']],
  ['max-h', ['max-height']],
  ['min-w', ['min-width']],
  ['min-h', ['min-height']],
]);

/** The rule of a utility class; undefined for an unknown name. */
export function utilityRule(name: string): UtilityRule | undefined {
  const parts = name.split(':');
  const utility = parts.pop() ?? '';
  const declarations = declarationsOf(utility);
  if (declarations === undefined || declarations === '' || parts.length > 2) return undefined;
  let element = `.${name.replace(/[^a-zA-Z0-9_-]/g, '\\$&').replace(/^(\d)/, '\\3$1 ')}`;
  let mode = '';
  let width: string | undefined;
  for (const part of parts) {
    const found = widths.get(part);
    if (found !== undefined) width = found;
    else if (part === 'dark') mode = '.dark ';
    else if (part === 'hover' || part === 'focus') element = `${element}:${part}`;
    else return undefined;
  }
  // An author writes a class to change what the theme says.
  const important = declarations.split(';').map((declaration) => `${declaration.trim()} !important`);
  const rule = `${mode}:is(.mdx-content, .page-aside) ${element} { ${important.join('; ')} }`;
  const css = width === undefined ? rule : `@media (min-width: ${width}) { ${rule} }`;
  return parts.length === 0 ? { css } : { css, condition: parts.join(':') };
}

function declarationsOf(utility: string): string | undefined {
  const fixed = fixedClasses.get(utility);
  if (fixed !== undefined) return fixed;
  const columns = /^grid-cols-([1-9]|1[0-2])$/.exec(utility)?.[1];
  if (columns !== undefined) return `grid-template-columns: repeat(${columns}, minmax(0, 1fr))`;
  const opacity = /^opacity-(\d{1,3})$/.exec(utility)?.[1];
  if (opacity !== undefined) return `opacity: ${Math.min(100, Number(opacity)) / 100}`;
  const spacing = /^(-?)([a-z]{1,3}(?:-[a-z])?)-(\d{1,3}(?:\.5)?|px)$/.exec(utility);
  const properties = spacingScale.get(spacing?.[2] ?? '');
  if (!spacing || !properties) return undefined;
  const size = spacing[3] === 'px' ? '1px' : `${Number(spacing[3]) * 0.25}rem`;
  return properties.map((property) => `${property}: ${spacing[1]}${size}`).join('; ');
}
