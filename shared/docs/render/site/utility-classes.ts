import type { UtilObject } from '@unocss/core';
import type { SiteSettings } from '#shared/docs/project/site-model.ts';

/** Limit of the class names of one site. Checking more of them would take too long. */
export const mostUtilityClasses = 5000;
/**
 * Limit of the characters of a name. The engine takes up to 3 ms for a name of this length and seconds for longer ones, and throws for more than 500
 * variants.
 */
const longestName = 300;
/** Limit of the variants of a name. The time for a name grows with their square: 5,000 names with 70 of them took over a minute. */
const mostVariants = 10;

/** The two boxes that contain a project's content. The id lets a class win over the theme's rules, as authors expect. */
const scope = ':is(.mdx-content, .aside-content, #content)';

/**
 * `_bindery/classes.css`: rules of Tailwind 3 for the utility classes that authors wrote, made by UnoCSS. Other class names have no rules. Tenants
 * choose the names, arbitrary values included, so every rule is checked: it applies only inside the content, and it loads nothing. The same names and
 * colours give the same text, in any order of the names.
 */
export async function classCss(classes: Iterable<string>, colors: SiteSettings['colors']): Promise<string> {
  const used = [...new Set(classes)].filter(isOfUsualSize).sort();
  if (used.length === 0) return '\n';
  // The packages are loaded on demand, because only closing a bundle needs them and loading takes 80 ms.
  const { createGenerator } = await import('@unocss/core');
  const { presetWind3 } = await import('@unocss/preset-wind3');
  const bordered = new Set<string>();
  const generator = await createGenerator({
    presets: [presetWind3({ dark: 'class', preflight: 'on-demand' })],
    theme: themeTokens(colors),
    // Rules are not merged, because an invalid selector would disable the others in its list.
    mergeSelectors: false,
    postprocess: (rule) => keepInside(rule, bordered),
  });
  const { layers, getLayer } = await generator.generate(used.slice(0, mostUtilityClasses), { minify: true });
  const rules = layers.filter((layer) => layer !== 'preflights').map((layer) => getLayer(layer) ?? '');
  const parts = [startValues(getLayer('preflights') ?? ''), borderStart(bordered), ...rules];
  return `${parts
    .filter(Boolean)
    .join('\n')
    .replace(/\}(?=[^}\n])/g, '}\n')}\n`;
}

const isOfUsualSize = (name: string): boolean =>
  name.length <= longestName && name.split(':').length <= mostVariants + 1;

/** Names of the documentation format in addition to Tailwind's own. The variables are those of the theme. */
function themeTokens({ primary, light = primary, dark = primary }: SiteSettings['colors']) {
  const shades = { light: hex(light), dark: hex(dark) };
  return {
    colors: {
      primary: { DEFAULT: hex(primary), ...shades },
      background: { light: 'var(--bg)', dark: 'var(--bg)' },
    },
    // As a text colour, `primary` is the readable shade.
    textColor: { primary: { DEFAULT: 'var(--accent-text)', ...shades } },
    fontFamily: { sans: 'var(--sans)', mono: 'var(--mono)' },
  };
}

const hex = (written: string): string => (/^#[0-9a-f]{3,8}$/i.test(written) ? written : 'var(--accent)');

/** Empties a rule that could apply outside the content or load something, and restricts all others to the content. */
function keepInside(rule: UtilObject, bordered: Set<string>): void {
  const selector = scoped(rule.selector);
  if (selector === undefined || !isCondition(rule.parent ?? '') || !rule.entries.every(isHarmless)) {
    rule.entries = [];
    return;
  }
  rule.selector = selector;
  if (rule.entries.some(([name]) => /^border(-[a-z]+)*-width$/.test(name)) && !selector.includes('::'))
    bordered.add(selector);
}

/** States of the whole page that a class may depend on. The engine marks their end with `$$`. */
const pageStates = /^(?:(?:\.dark|\.light|\[dir="(?:ltr|rtl)"\]) (?:\$\$ )?)*/;

/** The selector inside the content; undefined if it is a list, is not a class, or has unbalanced brackets. */
function scoped(selector: string): string | undefined {
  const [states = ''] = pageStates.exec(selector) ?? [];
  const own = selector.slice(states.length);
  // Escaped characters have no syntactic meaning.
  const bare = own.replace(/\\./gsu, '_');
  if (/[{}]/.test(own) || !bare.startsWith('.') || /[,{}@"'<;\\]/.test(bare) || !hasPairs(bare)) return undefined;
  return `${states.replaceAll('$$ ', '')}${scope} ${own}`;
}

const isCondition = (parent: string): boolean =>
  parent === '' ||
  parent
    .split(' $$ ')
    .every(
      (part) => /^@(media|supports|container) [\w\s():.,%<>=/-]+$/.test(part) && hasPairs(part) && loadsNothing(part),
    );

const isHarmless = ([name, value]: UtilObject['entries'][number]): boolean => {
  if (value === undefined || value === null) return true;
  const text = String(value);
  const bare = text.replace(/"[^"\\\n\r\f]*"|'[^'\\\n\r\f]*'/g, '_');
  return (
    /^-{0,2}[a-z][a-z0-9-]*$/i.test(name) &&
    // A view transition changes the whole page.
    name !== 'view-transition-name' &&
    !/[<{}\u0000-\u001f]/.test(text) &&
    !/[\\>@;"']/.test(bare) &&
    !bare.includes('/*') &&
    hasPairs(bare) &&
    loadsNothing(text)
  );
};

const loadsNothing = (text: string): boolean =>
  !/(url|image|image-set|src|expression|element|paint|cross-fade)\s*\(/i.test(text);

/** True if each bracket is closed, in the right order. */
function hasPairs(text: string): boolean {
  const open: string[] = [];
  for (const character of text) {
    if (character === '(' || character === '[') open.push(character === '(' ? ')' : ']');
    else if ((character === ')' || character === ']') && open.pop() !== character) return false;
  }
  return open.length === 0;
}

/** Initial values of the variables from which one declaration is made, such as the angle of a `transform`. */
function startValues(preflight: string): string {
  const [, values = ''] = /\*,::before,::after\{([^{}]*)\}/.exec(preflight) ?? [];
  if (values === '') return '';
  const inside = ':where(.mdx-content, .aside-content)';
  return `${inside} *,${inside} ::before,${inside} ::after{${values}}`;
}

/** Style and colour of borders, because Tailwind's utilities set only the width. */
const borderStart = (selectors: ReadonlySet<string>): string =>
  selectors.size === 0 ? '' : `:where(${[...selectors].sort().join(',')}){border:0 solid var(--line)}`;
