const configFiles = ['docs.json', 'mint.json'];

/** Paths without the one folder that all are in, if the project starts there: `tar czf p.tar.gz my-docs` packs it along. Pure. */
export function withoutTopFolder<F extends { path: string }>(files: readonly F[]): F[] {
  const paths = new Set(files.map(({ path }) => path));
  if (configFiles.some((name) => paths.has(name))) return [...files];
  const top = files[0]?.path.split('/')[0] ?? '';
  const startsThere = configFiles.some((name) => paths.has(`${top}/${name}`));
  if (!startsThere || files.some(({ path }) => !path.startsWith(`${top}/`))) return [...files];
  return files.map((file) => ({ ...file, path: file.path.slice(top.length + 1) }));
}
