import fc from 'fast-check';
import { expect, test } from 'vitest';
import { portableName } from './archive-names.ts';
import { bundleNames, bundlePathProblem } from './bundle-names.ts';

test.each([
  'index.html',
  'a/icon.d/x',
  'company.html',
  'a.b/c d',
  'lpt10',
  'com',
  '.well-known/x',
  `${'x/'.repeat(255)}yz`,
])('%s is fine on every system', (path) => expect(bundlePathProblem(path)).toBeUndefined());

test.each([
  ['../x', 'points outside its folder'],
  [`${'x/'.repeat(256)}y`, 'is longer than 512 bytes'],
  ['a/CON', 'has the name "CON", which Windows reserves'],
  ['nul.html', 'has the name "nul.html", which Windows reserves'],
  ['prn', 'has the name "prn", which Windows reserves'],
  ['aux ', 'has the name "aux ", which Windows reserves'],
  ['com1.tar.gz', 'has the name "com1.tar.gz", which Windows reserves'],
  ['lpt\u00b2', 'has the name "lpt\u00b2", which Windows reserves'],
  ['conin$', 'has the name "conin$", which Windows reserves'],
  ['CONOUT$.txt', 'has the name "CONOUT$.txt", which Windows reserves'],
  ['a./b', 'has a name that ends with a dot or a space, which Windows drops'],
  ['a ', 'has a name that ends with a dot or a space, which Windows drops'],
  ['ab:c', 'has the character :, which Windows does not allow'],
  ['what?', 'has the character ?, which Windows does not allow'],
  ['a/<b', 'has the character <, which Windows does not allow'],
])('%j is refused', (path, problem) => expect(bundlePathProblem(path)).toBe(problem));

test('the fast check of plain paths finds what the check of each name finds', () => {
  const piece = fc.constantFrom(
    'a',
    'B-1',
    '_',
    '.',
    '..',
    '/',
    ' ',
    'con',
    'AUX',
    'nul',
    'com1',
    'Lpt9',
    'com',
    'conin$',
    'é',
    '?',
  );
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 8 }), (pieces) => {
      const path = pieces.join('');
      // A name with an accent in front is not plain, so each name is checked; only the start of an absolute path is hidden by it.
      fc.pre(!path.startsWith('/'));
      expect(bundlePathProblem(path)).toBe(bundlePathProblem(`é/${path}`));
    }),
    { numRuns: 2_000 },
  );
});

test('names are taken as by a check of every folder of every name', () => {
  const name = fc.constantFrom('a', 'A', 'b', 'c.html', 'ß', 'ss');
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
  fc.assert(
    fc.property(fc.array(path, { minLength: 1, maxLength: 12 }), (paths) => {
      const names = bundleNames();
      const taken: string[] = [];
      for (const path of paths) {
        const key = portableName(path);
        const isFree = taken.every(
          (other) => other !== key && !other.startsWith(`${key}/`) && !key.startsWith(`${other}/`),
        );
        expect(names.take(path) === undefined).toBe(isFree);
        if (isFree) taken.push(key);
      }
    }),
    { numRuns: 1_000 },
  );
});

test('a name is given once, in every spelling of it', () => {
  const names = bundleNames();
  expect(names.take('a/b/index.html', 'größe.html')).toBeUndefined();
  expect(names.take('größe.html')).toEqual({ path: 'größe.html', problem: 'is taken' });
  expect(names.take('GRÖSSE.html')?.problem).toBe('has the same name as "größe.html" on many systems');
  expect(names.take('a/B/Index.html')).toEqual({
    path: 'a/B/Index.html',
    problem: 'has the same name as "a/b/index.html" on many systems',
  });
  expect(names.take('A/b')).toEqual({ path: 'A/b', problem: 'has the name of the folder of "a/b/index.html"' });
  expect(names.take('a')).toEqual({ path: 'a', problem: 'has the name of the folder of "a/b/index.html"' });
  expect(names.take('a/b/Index.html/x')).toEqual({
    path: 'a/b/Index.html/x',
    problem: 'is in "a/b/index.html", which is a file',
  });
  expect(names.take('größe.html/deep/x')).toEqual({
    path: 'größe.html/deep/x',
    problem: 'is in "größe.html", which is a file',
  });
});

test('a folder is named by the first file in it', () => {
  const names = bundleNames();
  names.take('a/first');
  names.take('a/second');
  expect(names.take('a')?.problem).toBe('has the name of the folder of "a/first"');
});

test('several names are given together or not at all', () => {
  const names = bundleNames();
  expect(names.take('page.html', 'con')).toEqual({
    path: 'con',
    problem: 'has the name "con", which Windows reserves',
  });
  expect(names.take('page.html')).toBeUndefined();
});

test('names of generated files are reserved', () => {
  const names = bundleNames();
  const notFound = 'is the page that hosts show for unknown addresses, and Bindery generates it';
  const reserved = 'is in _bindery/, which is reserved for the files that pages need';
  expect(names.take('404.HTML')?.problem).toBe(notFound);
  expect(names.take('_bindery')?.problem).toBe(reserved);
  expect(names.take('_Bindery/x.js')?.problem).toBe(reserved);
  expect(names.take('_bindery.html', 'a/404.html', 'a/_bindery/x')).toBeUndefined();
});
