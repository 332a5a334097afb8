/**
 * Everything that can be reached from `file` by imports, sorted, without itself. `importsOf` gives the files that one file imports
 * directly.
 */
export function reachableImports(file: string, importsOf: (file: string) => readonly string[]): string[] {
  const reached = new Set<string>();
  const open = [...importsOf(file)];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    open.push(...importsOf(next));
  }
  reached.delete(file);
  return [...reached].sort();
}

/** Circles of imports among `files`, each as the chain that comes back to its first member; at most 100. */
export function importCycles(files: readonly string[], importsOf: (file: string) => readonly string[]): string[][] {
  const done = new Set<string>();
  const cycles: string[][] = [];
  for (const start of files) {
    // Depth-first with a stack of our own: chains may be as long as the project has files.
    const path: { file: string; next: number }[] = [{ file: start, next: 0 }];
    const onPath = new Set([start]);
    while (path.length > 0 && cycles.length < 100) {
      const top = path.at(-1) as { file: string; next: number };
      const child = done.has(top.file) ? undefined : importsOf(top.file)[top.next];
      top.next += 1;
      if (child === undefined) {
        done.add(top.file);
        onPath.delete(top.file);
        path.pop();
      } else if (onPath.has(child)) {
        const chain = path.map(({ file }) => file);
        cycles.push([...chain.slice(chain.indexOf(child)), child]);
      } else if (!done.has(child)) {
        path.push({ file: child, next: 0 });
        onPath.add(child);
      }
    }
  }
  return cycles;
}
