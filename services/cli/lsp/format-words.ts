import { componentSupport } from '#shared/docs/format/components.ts';
import { frontmatterSupport } from '#shared/docs/format/frontmatter.ts';
import {
  fieldsOfNode,
  type NodeKind,
  nodeKinds,
  nodeLists,
  settingShapes,
} from '#shared/docs/format/setting-shapes.ts';
import type { Support, SupportTable } from '#shared/docs/format/support.ts';
import { valuesOf } from '#shared/docs/format/value-kinds.ts';

/** A component with its properties. */
export type ComponentWords = { name: string; support: Support; props: ReadonlyMap<string, Support> };

/** The components of the format by name. Their table is the one that reports properties without effect and that the documentation shows. */
export const componentWords: ReadonlyMap<string, ComponentWords> = readComponents(componentSupport);

function readComponents(table: SupportTable): Map<string, ComponentWords> {
  const isComponent = (name: string): boolean => /^[A-Z][A-Za-z]*(?:\.[A-Z][A-Za-z]*)?$/.test(name);
  const rows = Object.entries(table);
  return new Map(
    rows
      .filter(([name]) => isComponent(name))
      .map(([name, support]) => {
        const props = rows.flatMap(([other, inner]): [string, Support][] => {
          const at = other.lastIndexOf('.');
          return other.slice(0, at) === name && !isComponent(other) ? [[other.slice(at + 1), inner]] : [];
        });
        return [name, { name, support, props: new Map(props) }];
      }),
  );
}

export const frontmatterWords: ReadonlyMap<string, Support> = new Map(Object.entries(frontmatterSupport));

/** The documentation of a name, as Markdown. */
export function documentationOf({ is, says, note, value }: Support): string {
  const values = valuesOf(value);
  return [
    says,
    ...(values.length > 0 ? [`Values: ${values.map((each) => `\`${each}\``).join(', ')}.`] : []),
    ...(note === undefined ? [] : [is === 'not' ? `**Has no effect**: ${note}.` : `Limits: ${note}.`]),
  ].join('\n\n');
}

/** A setting of `docs.json`, or a field of its navigation, by the keys that lead to it: its support, or its meaning if it only contains others. */
export type SettingWords = { support?: Support; says: string };

export function settingAt(path: readonly (string | number)[]): SettingWords | undefined {
  const [top] = path;
  if (top === 'navigation') return navigationAt(path.slice(1));
  let shapes = settingShapes;
  let found: SettingWords | undefined;
  for (const part of path) {
    if (typeof part === 'number') continue;
    const shape = shapes.get(part);
    if (shape === undefined)
      return found?.support?.value.schema.type === 'object' ? undefined : lightOrDark(found, part);
    found = shape;
    shapes = shape.inner;
  }
  return found;
}

const lightOrDark = (found: SettingWords | undefined, part: string): SettingWords | undefined =>
  found?.support !== undefined && (part === 'light' || part === 'dark') ? found : undefined;

function navigationAt(path: readonly (string | number)[]): SettingWords | undefined {
  if (path.length === 0) return { says: 'Pages in the order of the sidebar.' };
  const names = path.filter((part) => typeof part === 'string');
  const last = names.at(-1) ?? '';
  const list = names.at(-2) ?? '';
  const kind: NodeKind | 'root' = nodeLists.get(list) ?? (list === 'pages' ? 'group' : 'root');
  const support =
    fieldsOfNode(kind).get(last) ??
    nodeKinds.map((each) => fieldsOfNode(each).get(last)).find((each) => each !== undefined);
  return support && { support, says: support.says };
}
