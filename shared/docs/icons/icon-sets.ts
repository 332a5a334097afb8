import { readFileSync } from 'node:fs';
import type { Element, Properties } from 'hast';
import { s } from 'hastscript';
import { packageFile } from '#shared/runtime/installed-packages.ts';

/*
 * The free icons of three libraries, from packages that hold only icons. A set is one JSON file of up to 2 MB. It is read when its first icon is
 * requested.
 */
const files = {
  lucide: () => packageFile('@iconify-json/lucide/icons.json'),
  tabler: () => packageFile('@iconify-json/tabler/icons.json'),
  'fa-solid': () => packageFile('@iconify-json/fa7-solid/icons.json'),
  'fa-regular': () => packageFile('@iconify-json/fa7-regular/icons.json'),
  'fa-brands': () => packageFile('@iconify-json/fa7-brands/icons.json'),
};

export type IconSet = keyof typeof files;

/** Content of an `svg` element. Callers share it, so it must not be changed. */
export type Drawing = { properties: Properties; children: Element[] };

type Stored = { body: string; width?: number; height?: number };
type SetFile = {
  icons: Record<string, Stored>;
  aliases?: Record<string, { parent: string }>;
  width?: number;
  height?: number;
};

const sets = new Map<IconSet, SetFile>();
const drawings = new Map<string, Drawing | undefined>();

/** The icon that a set has under this name or alias, such as `circle-check`; undefined if it has none. */
export function drawingOf(set: IconSet, name: string): Drawing | undefined {
  const { icons, aliases = {}, width = 24, height = 24 } = loaded(set);
  const own = Object.hasOwn(aliases, name) ? (aliases[name]?.parent ?? name) : name;
  if (!Object.hasOwn(icons, own)) return undefined;
  const key = `${set}:${own}`;
  if (!drawings.has(key)) drawings.set(key, drawn({ width, height, ...(icons[own] as Stored) }));
  return drawings.get(key);
}

/** All names that a set has, without aliases. */
export const namesInSet = (set: IconSet): string[] => Object.keys(loaded(set).icons);

function loaded(set: IconSet): SetFile {
  const known = sets.get(set) ?? (JSON.parse(readFileSync(files[set](), 'utf8')) as SetFile);
  sets.set(set, known);
  return known;
}

const tag = /<(\/)?([a-z]+)((?: [a-z-]+="[^"<>&]*")*)\s*(\/)?>/giy;
const shapes = new Set(['path', 'circle', 'ellipse', 'line', 'polygon', 'polyline', 'rect', 'g']);
/** Attributes that most icons repeat on every shape. Once on the `svg` element they are shorter, and the theme can change the stroke width. */
const common = ['fill', 'stroke', 'strokeLineCap', 'strokeLineJoin', 'strokeWidth'];

/** Parses the shapes of an icon. Undefined for icons that refer to their own parts by id, because a page could have the same id twice. */
function drawn({ body, width, height }: Required<Stored>): Drawing | undefined {
  const open: Element[] = [s('svg', { viewBox: `0 0 ${width} ${height}` })];
  for (tag.lastIndex = 0; tag.lastIndex < body.length; ) {
    const [, isEnd, name = '', attributes = '', isEmpty] = tag.exec(body) ?? [];
    const around = open.at(-1);
    if (!shapes.has(name) || around === undefined) return undefined;
    if (isEnd) {
      open.pop();
      continue;
    }
    const written = [...attributes.matchAll(/ ([a-z-]+)="([^"]*)"/gi)].map(([, key, value]) => [key, value] as const);
    const element = s(name, Object.fromEntries(written));
    around.children.push(element);
    if (!isEmpty) open.push(element);
  }
  const [svg] = open;
  return svg === undefined || open.length > 1 ? undefined : withCommonAttributes(svg);
}

function withCommonAttributes({ properties, children }: Element): Drawing {
  const elements = children.filter((child) => child.type === 'element');
  const [only] = elements;
  const isGroup = elements.length === 1 && only?.tagName === 'g';
  const all = isGroup ? only.children.filter((child) => child.type === 'element') : elements;
  const shared: Properties = isGroup ? { ...only.properties } : {};
  if (!isGroup) {
    for (const name of common) {
      const value = only?.properties[name];
      if (value === undefined || elements.some((element) => element.properties[name] !== value)) continue;
      shared[name] = value;
      for (const element of elements) delete element.properties[name];
    }
  }
  return { properties: { ...properties, ...shared }, children: all };
}
