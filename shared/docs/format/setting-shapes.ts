import { divisionLists, navigationSupport } from './navigation.ts';
import { settingGroups, settingSupport } from './settings.ts';
import type { Support } from './support.ts';

/** A place in `docs.json`: what can be written there, and the settings in it. */
export type SettingShape = {
  /** Absent for an object that only contains settings. */
  support?: Support;
  says: string;
  isList: boolean;
  inner: Map<string, SettingShape>;
};

/** All settings but the navigation, as `docs.json` nests them: `navbar.links[].href` is in `links` of `navbar`. */
export const settingShapes: ReadonlyMap<string, SettingShape> = nested();

function nested(): Map<string, SettingShape> {
  const top: SettingShape = { says: '', isList: false, inner: new Map() };
  for (const [name, support] of Object.entries(settingSupport)) {
    let at = top;
    let path = '';
    for (const part of name.split('.')) {
      const key = part.replace('[]', '');
      path = path === '' ? key : `${path}.${key}`;
      const known = at.inner.get(key) ?? { says: settingGroups[path] ?? '', isList: false, inner: new Map() };
      known.isList ||= part.endsWith('[]');
      at.inner.set(key, known);
      at = known;
    }
    Object.assign(at, { support, says: support.says });
  }
  return top.inner;
}

/** The kind of a node of the navigation in the names of its fields: `menu` for the choices of a menu. */
const fieldsOf = (kind: string): string => (kind === 'item' ? 'menu' : kind);

/** Kinds of nodes of the navigation. */
export const nodeKinds = ['group', ...divisionLists.map(([, kind]) => kind)] as const;
export type NodeKind = (typeof nodeKinds)[number];

/** The key under which a node lists nodes of a kind, and the kind. */
export const nodeLists: ReadonlyMap<string, NodeKind> = new Map<string, NodeKind>([
  ['groups', 'group'],
  ...divisionLists,
]);

/** The fields that a node of a kind can have: its own ones, then those of every node. */
export function fieldsOfNode(kind: NodeKind | 'root'): ReadonlyMap<string, Support> {
  const known = nodeFields.get(kind) ?? readFields(kind);
  nodeFields.set(kind, known);
  return known;
}

const nodeFields = new Map<string, ReadonlyMap<string, Support>>();

function readFields(kind: NodeKind | 'root'): Map<string, Support> {
  const rows = Object.entries(navigationSupport);
  const own = rows.flatMap(([name, support]): [string, Support][] => {
    const [of, field] = name.split('.');
    return field !== undefined && of === fieldsOf(kind) ? [[field, support]] : [];
  });
  const common = rows.filter(([name]) => !name.includes('.') && (name !== 'global' || kind === 'root'));
  return new Map([...common, ...own]);
}
