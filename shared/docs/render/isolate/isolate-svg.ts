import type { Element, Nodes, Properties } from 'hast';
import { fromHtml } from 'hast-util-from-html';
import { find, svg as svgNames } from 'property-information';
import { classifyUrl } from '#shared/docs/project/url-policy.ts';
import { escapeHtmlText } from '../html.ts';
import { attributesText } from '../sanitize/safe-attributes.ts';

const words = (list: string): string[] => list.trim().split(/\s+/);

/** Elements that a picture may have. There are no scripts, no HTML and no other documents among them. */
const elements = new Set(
  words(`svg g defs symbol use switch a view path rect circle ellipse line polyline polygon text tspan textPath image title desc style
    linearGradient radialGradient stop pattern clipPath mask marker filter feBlend feColorMatrix feComponentTransfer feComposite
    feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur
    feImage feMerge feMergeNode feMorphology feOffset fePointLight feSpecularLighting feSpotLight feTile feTurbulence
    animate animateMotion animateTransform mpath set`),
);

/** Properties that styles and animations may set. */
const presentation = words(`alignment-baseline baseline-shift clip clip-path clip-rule color color-interpolation
  color-interpolation-filters cursor cx cy d direction display dominant-baseline fill fill-opacity fill-rule filter flood-color flood-opacity
  font-family font-size font-size-adjust font-stretch font-style font-variant font-weight fx fy fr gradientTransform height image-rendering
  letter-spacing lighting-color marker-end marker-mid marker-start mask mask-type offset opacity overflow paint-order patternTransform
  pointer-events points preserveAspectRatio r rx ry shape-rendering startOffset stdDeviation stop-color stop-opacity stroke stroke-dasharray
  stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-width text-anchor text-decoration
  text-rendering transform transform-origin unicode-bidi vector-effect viewBox visibility width word-spacing writing-mode x x1 x2 y y1 y2
  dx dy rotate baseFrequency k1 k2 k3 k4 numOctaves radius scale seed surfaceScale values tableValues slope intercept amplitude exponent`);

/** Attributes that the elements may have. `href` and `style` are checked separately. */
const attributes = new Set([
  ...presentation,
  ...words(`id class style lang xml:lang xml:space tabindex role aria-label aria-labelledby aria-describedby aria-hidden href xlink:href version
    baseProfile systemLanguage media type pathLength textLength lengthAdjust method spacing side gradientUnits spreadMethod patternUnits
    patternContentUnits clipPathUnits maskUnits maskContentUnits markerUnits markerWidth markerHeight refX refY orient filterUnits
    primitiveUnits in in2 result mode edgeMode kernelMatrix order divisor bias targetX targetY preserveAlpha operator xChannelSelector
    yChannelSelector diffuseConstant specularConstant specularExponent kernelUnitLength azimuth elevation pointsAtX pointsAtY pointsAtZ
    limitingConeAngle stitchTiles z attributeName attributeType from to by begin dur end min max restart repeatCount repeatDur calcMode
    keyTimes keySplines keyPoints path additive accumulate`),
]);

/** Elements that set an attribute, and the attributes that they may set. */
const animations = new Set(['animate', 'animateTransform', 'set']);
const animated = new Set(presentation);

/**
 * Reduces a picture to shapes, text, styles, their animations, and links. Opened directly, it runs no script and loads nothing. Undefined if the text
 * contains no picture. Throws for a picture that is nested too deep. Pure.
 */
export function isolateSvg(text: string): string | undefined {
  // Some programs write a prefix in front of every name.
  const tree = fromHtml(text.replaceAll(/<(\/?)svg:/g, '<$1'), { fragment: true });
  const [picture] = tree.children.flatMap(firstSvg);
  return picture === undefined ? undefined : `${written(picture, vocabularies)}\n`;
}

/** Namespaces that a stand-alone file has to declare. */
const vocabularies = { xmlns: 'http://www.w3.org/2000/svg', xmlnsXLink: 'http://www.w3.org/1999/xlink' };

function firstSvg(node: Nodes): Element[] {
  if (node.type !== 'element') return [];
  return node.tagName === 'svg' ? [node] : node.children.flatMap(firstSvg).slice(0, 1);
}

/** A node as XML, with only the allowed elements and attributes. */
function written(node: Nodes, more: Properties = {}): string {
  if (node.type === 'text') return escapeHtmlText(node.value);
  if (node.type !== 'element' || !elements.has(node.tagName)) return '';
  const { tagName } = node;
  const properties = { ...more, ...cleanProperties(node) };
  if (animations.has(tagName) && !animated.has(String(properties['attributeName']))) return '';
  if (tagName !== 'style')
    return `<${tagName}${attributesText(properties, true)}>${node.children.map((child) => written(child)).join('')}</${tagName}>`;
  const css = node.children.map((child) => (child.type === 'text' ? child.value : '')).join('');
  return `<style>${escapeHtmlText(cssWithoutLoads(css))}</style>`;
}

function cleanProperties({ tagName, properties }: Element): Properties {
  const kept: Properties = {};
  for (const [property, value] of Object.entries(properties)) {
    const { attribute } = find(svgNames, property);
    if (!attributes.has(attribute) || value === null || value === undefined) continue;
    const text = Array.isArray(value) ? value.join(' ') : String(value);
    if (attribute === 'href' || attribute === 'xlink:href') {
      if (isSafeReference(tagName, text)) kept[property] = text.trim();
    } else if (attribute === 'style') kept[property] = cssWithoutLoads(text);
    else if (cssWithoutLoads(text) === text) kept[property] = value;
  }
  return kept;
}

const inlinePicture = /^data:image\/(png|jpeg|gif|webp|avif);base64,[a-z0-9+/=\s]+$/i;

/** True for an allowed reference. Links may lead to other sites; all other references must stay inside the picture. */
function isSafeReference(tagName: string, address: string): boolean {
  if (address.trim().startsWith('#')) return true;
  if (tagName === 'a') return /^https?:/.test(hrefOf(address)) && !/[\u0000-\u001f]/.test(address);
  return (tagName === 'image' || tagName === 'feImage') && inlinePicture.test(address.trim());
}

function hrefOf(address: string): string {
  const url = classifyUrl(address);
  return url.kind === 'external' ? url.href : '';
}

/** Removes everything from CSS that would load a file. References to parts of the picture, inline pictures and inline fonts stay. */
function cssWithoutLoads(css: string): string {
  // An escape could hide a name.
  if (css.includes('\\')) return '';
  return css
    .replaceAll(/\/\*[\s\S]*?(\*\/|$)/g, ' ')
    .replaceAll(/@import[^;]*(;|$)/gi, ' ')
    .replaceAll(
      /\burl\((?!\s*["']?\s*(?:#|data:(?:image\/(?:png|jpeg|gif|webp|avif)|font\/|application\/(?:x-)?font)))[^)]*\)?/gi,
      'none',
    )
    .replaceAll(/\b(image-set|image|cross-fade|src|paint|element|expression)\(/gi, 'none(');
}
