import type { ElementContent, Properties } from 'hast';
import { h, s } from 'hastscript';
import type { StaticElement } from '../evaluate/static-tree.ts';
import { contentSchema } from '../sanitize/schema.ts';
import { StaticNodes, type StaticProps, type StaticValue } from '../evaluate/static-tree.ts';
import type { ContentContext } from './content-context.ts';
import { headingElement } from './to-content.ts';

const ALLOWED: ReadonlySet<string> = new Set(contentSchema.tagNames);
const STRIPPED: ReadonlySet<string> = new Set(contentSchema.strip);
const DRAWN: ReadonlySet<string> = new Set(
  'svg g path circle ellipse line polyline polygon rect tspan defs linearGradient radialGradient stop clipPath mask'.split(
    ' ',
  ),
);

/** An element of HTML that an author wrote. Its attributes are judged where all are: when the page is sanitized. */
export function htmlElement(element: StaticElement, context: ContentContext): ElementContent[] {
  const { name, props, children } = element;
  if (STRIPPED.has(name)) {
    context.report('element-not-allowed', `<${name}> is left out: it cannot be in a page.`, element);
    return [];
  }
  if (!ALLOWED.has(name)) {
    context.report(
      'element-not-allowed',
      `<${name.slice(0, 60)}> is left out, its content is shown without it.`,
      element,
    );
    return context.children(children);
  }
  const heading = /^h([1-6])$/.exec(name);
  const id = props.get('id');
  if (heading) {
    const made = headingElement(
      Number(heading[1]),
      context.children(children),
      typeof id === 'string' ? id : undefined,
      context,
      props.get('noAnchor') === true,
    );
    const { id: made_, ...rest } = { ...propertiesOf(props), ...made.properties };
    return [{ ...made, properties: { id: made_, ...rest } }];
  }
  const properties = propertiesOf(props);
  if (typeof id === 'string') properties.id = context.anchors.claimWritten(id);
  if (name === 'iframe' && properties.title === undefined) properties.title = 'Embedded content';
  if (DRAWN.has(name)) return [s(name, properties, context.children(children))];
  const made = h(name, properties, context.children(children));
  if (name === 'iframe') return [h('div', { className: ['embed'] }, [made])];
  return [name === 'table' ? h('div', { className: ['table-wrap'], tabIndex: 0 }, made) : made];
}

function propertiesOf(props: StaticProps): Properties {
  const properties: Properties = {};
  for (const [key, value] of props) {
    if (/^on/i.test(key) || key === 'key' || key === 'ref' || key === 'noAnchor') continue;
    if (key === 'style') {
      const style = styleOf(value);
      if (style !== undefined) properties.style = style;
    } else if (key === 'className' || key === 'class') {
      if (typeof value === 'string')
        properties.className = value
          .split(/\s+/)
          .filter((name) => name !== '' && name.length <= 100)
          .slice(0, 100);
    } else if (key === 'noZoom') properties.dataNoZoom = '';
    else if (typeof value === 'string' || typeof value === 'number' || value === true) properties[key] = value;
  }
  return properties;
}

/** `style={{ fontSize: 12 }}` as declarations. A name that is no name of CSS is judged and dropped later. */
function styleOf(value: StaticValue): string | undefined {
  if (typeof value === 'string') return value;
  if (!(value instanceof Map)) return undefined;
  const declarations: string[] = [];
  for (const [name, part] of value) {
    if (part instanceof StaticNodes || (typeof part !== 'string' && typeof part !== 'number')) continue;
    const property = name.startsWith('--') ? name : name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const isLength = typeof part === 'number' && part !== 0 && !UNITLESS.has(name);
    declarations.push(`${property}: ${part}${isLength ? 'px' : ''}`);
  }
  return declarations.join('; ');
}

const UNITLESS = new Set(
  'opacity zIndex fontWeight lineHeight flex flexGrow flexShrink order zoom columns columnCount aspectRatio'.split(' '),
);
