/** Properties that cannot lay content over the page or load anything. */
const ALLOWED =
  /^(--[a-z][a-z0-9-]*|color|background|background-color|opacity|border(-(top|right|bottom|left|block|inline))?(-(start|end))?(-(width|style|color|radius))?|border-(top|bottom)-(left|right)-radius|border-collapse|border-spacing|outline(-(width|style|color|offset))?|margin(-(top|right|bottom|left|block|inline)(-(start|end))?)?|padding(-(top|right|bottom|left|block|inline)(-(start|end))?)?|width|height|min-width|min-height|max-width|max-height|aspect-ratio|box-sizing|object-fit|object-position|display|flex(-(direction|wrap|flow|grow|shrink|basis))?|grid(-(template|auto|column|row|area)(-(columns|rows|areas|flow|start|end))?)?|gap|row-gap|column-gap|order|align-(items|self|content)|justify-(items|self|content)|place-(items|self|content)|vertical-align|text-(align|decoration|transform|indent|overflow|wrap)(-(color|line|style|thickness))?|text-underline-offset|font|font-(family|size|style|weight|variant|variant-numeric)|line-height|letter-spacing|word-break|word-spacing|overflow-wrap|white-space|list-style(-(type|position))?|overflow(-(x|y))?|float|clear|border-image-width|columns|column-count|box-shadow|filter|transform|transform-origin|fill|stroke|stroke-width|table-layout|caption-side|visibility|position|top|right|bottom|left|z-index|inset|tab-size|hyphens|user-select|cursor|scroll-margin-top)$/;

/**
 * The declarations of a style attribute that may stay. Nothing loads (`url(`, `image-set(`, `@import`), nothing leaves its place in the page
 * (`position` only relative, absolute inside of it and sticky not at all), no escapes that hide either.
 */
export function safeStyle(style: string): string | undefined {
  if (style.length > 5000) return undefined;
  const kept: string[] = [];
  for (const declaration of style.replace(/\/\*[\s\S]*?\*\//g, '').split(';')) {
    const colon = declaration.indexOf(':');
    if (colon < 1) continue;
    const name = declaration.slice(0, colon).trim().toLowerCase();
    const value = declaration.slice(colon + 1).trim();
    if (!ALLOWED.test(name) || value === '') continue;
    if (
      /[\\<>{}@\u0000-\u001f]/.test(value) ||
      /(url|image|image-set|src|expression|element|paint|cross-fade)\s*\(/i.test(value)
    )
      continue;
    if (name === 'position' && !/^(relative|static)$/i.test(value)) continue;
    if (/^(top|right|bottom|left|inset|z-index)$/.test(name) && !/^-?\d{1,2}(px|rem|em|%)?$|^auto$/.test(value))
      continue;
    kept.push(`${name}: ${value}`);
  }
  return kept.length === 0 ? undefined : kept.join('; ');
}
