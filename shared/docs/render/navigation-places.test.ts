import { expect, test } from 'vitest';
import type { NavigationNode } from '#shared/docs/project/site-model.ts';
import { navigationPlaces } from './navigation-places.ts';

const tab = (path: string, changes = {}): NavigationNode => ({
  ...{ kind: 'division', division: 'tab', title: path, isDefault: false, hidden: false },
  children: [{ kind: 'page', path }],
  ...changes,
});

test('each tab is the current one of its own choice, and all choices share one list of options', () => {
  // Each tab has a page. If each choice had its own list, memory would grow with the square of the number of tabs.
  const paths = Array.from({ length: 2_000 }, (_, at) => `p${at}`);
  const { places } = navigationPlaces(
    paths.map((path) => tab(path)),
    new Map(),
    () => true,
  );
  const choices = paths.flatMap((path) => places.get(path)?.choices ?? []);
  expect(choices.map(({ current }) => current)).toEqual(paths.map((_, at) => at));
  expect(new Set(choices.map(({ options }) => options)).size).toBe(1);
  expect(choices[0]?.options.at(-1)).toEqual({ title: 'p1999', page: 'p1999' });
});

test('options are those of the same kind that lead somewhere', () => {
  const navigation = [
    tab('a', { tag: 'new', icon: 'star' }),
    tab('hidden', { hidden: true }),
    tab('gone'),
    tab('out', { children: [], href: 'https://x.test' }),
    tab('anchor', { division: 'anchor', children: [], href: 'https://y.test' }),
    tab('b'),
    tab('v1', { division: 'version' }),
  ];
  const { places } = navigationPlaces(navigation, new Map(), (path) => path !== 'gone');
  const options = [
    { title: 'a', page: 'a', tag: 'new', icon: 'star' },
    { title: 'out', href: 'https://x.test' },
    { title: 'b', page: 'b' },
  ];
  expect(places.get('a')?.choices).toEqual([{ division: 'tab', current: 0, options }]);
  expect(places.get('b')?.choices).toEqual([{ division: 'tab', current: 2, options }]);
  // A single option does not make a choice.
  expect(places.get('v1')?.choices).toEqual([]);
});
