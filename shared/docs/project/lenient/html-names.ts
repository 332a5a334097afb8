const names = (list: string): ReadonlySet<string> => new Set(list.trim().split(/\s+/));

/** HTML elements that have no content and no closing tag. */
const voidElements = names('area base br col embed hr img input link meta param source track wbr');

/**
 * Elements that authors use within a line of text. In a line of text, an unclosed tag that is not in this list, such as `<data>`, counts as a
 * placeholder.
 */
const textElements =
  names(`a abbr b bdi bdo big center cite code del dfn em font i ins kbd mark p q s samp small span strike strong sub sup
  tt u div img br hr wbr picture video audio iframe svg details summary table tr td th thead tbody ul ol li dl dt dd h1 h2 h3 h4 h5 h6 pre
  blockquote figure figcaption button`);

const otherElements =
  names(`address article aside body canvas caption colgroup data datalist dialog fieldset footer form frame frameset head
  header hgroup html label legend main map menu meter nav noscript object optgroup option output progress rp rt ruby script search section
  select slot style template textarea tfoot time title var circle clipPath defs ellipse g line linearGradient mask path polygon polyline
  radialGradient rect stop text tspan use`);

/** Elements that do not show their content. An unclosed one would hide the rest of its parent. */
const hidingElements = names(`script style template noscript object select textarea title head datalist`);

/** Elements whose closing tags HTML lets authors omit, or that never contain themselves. */
const endedByNext = names('li dt dd tr td th thead tbody tfoot option p Tab Step Update View');

export const isVoid = (name: string): boolean => voidElements.has(name);
export const isHtml = (name: string): boolean => isVoid(name) || textElements.has(name) || otherElements.has(name);
export const hidesContent = (name: string): boolean => hidingElements.has(name);
export const isTextElement = (name: string): boolean => textElements.has(name);
/** True if an unclosed element of this name ends before the next one of the same name. */
export const endsBeforeNext = (name: string): boolean => endedByNext.has(name);
