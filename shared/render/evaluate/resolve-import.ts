/** A file of the project, or why the import is refused. */
export type ResolvedImport = { path: string } | { code: string; message: string };

/**
 * Imports are of project files only: `/snippets/x.mdx` from the top, `./x.mdx` from the importing file. Percent signs are read before the
 * path is checked, so that none can climb later.
 */
export function resolveImport(specifier: string, importer: string): ResolvedImport {
  const shown = JSON.stringify(specifier.slice(0, 200));
  const outside = {
    code: 'import-outside-project',
    message: `The import ${shown} leads out of the project; nothing is imported.`,
  };
  let written = specifier;
  try {
    written = decodeURIComponent(specifier);
  } catch {
    return outside;
  }
  if (/^file:/i.test(written) || written.includes('\\') || written.includes('\0')) return outside;
  if (!/^\.{0,2}\//.test(written)) {
    return {
      code: 'import-not-allowed',
      message: `The import ${shown} is not a file of the project; only paths that start with "/", "./" or "../" can be imported.`,
    };
  }
  if (written.startsWith('//')) return outside;
  const parts = written.startsWith('/') ? [] : importer.split('/').slice(0, -1);
  for (const part of written.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (parts.length === 0) return outside;
      parts.pop();
    } else parts.push(part);
  }
  return { path: parts.join('/') };
}
