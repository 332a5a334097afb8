import { dirname, relative, sep } from 'node:path';
import type { Plugin } from 'rolldown';

/** `file`: the address of a module. `folder`: the path of its folder. `native`: a file of native code. */
type PlaceKind = 'file' | 'folder' | 'native';

/** A string literal in bundled code that stands for a place which is known later. */
export const placeholder = (kind: PlaceKind, of: string): string => JSON.stringify(`bindery-${kind}:${of}`);

/** Finds the placeholders in bundled code. The first group is what `placeholder` got. */
export const placeholdersOf = (kind: PlaceKind): RegExp => new RegExp(`"bindery-${kind}:([^"]*)"`, 'g');

/**
 * Replaces `import.meta.url` and `import.meta.dirname` of each own module by placeholders with its path from `root`. Modules of packages need neither.
 */
export const ownAddresses = (root: string): Plugin => ({
  name: 'own-addresses',
  transform(code, id) {
    if (!code.includes('import.meta.') || id.includes(`${sep}node_modules${sep}`)) return undefined;
    // These are expressions, because this module is bundled too, and its own strings must stay.
    const path = relative(root, id).replaceAll(sep, '/');
    const placed = code
      .replaceAll(/import\.meta\.url/g, placeholder('file', path))
      .replaceAll(/import\.meta\.dirname/g, placeholder('folder', dirname(path)));
    // The map stays as it is, because no line changes.
    return { code: placed, map: null };
  },
});
