#!/usr/bin/env node
// The `bindery` command. It is JavaScript, because Node compiles every TypeScript file until the cache is on, and the compiler takes 50 MB of
// memory and most of the time of a short command.
import { readFileSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { cacheFolder } from '#infra/setup/server-locations.mjs';

// In the package that `npm pack` makes, this name ends with `.js`.
const main = './main.ts';
const isClone = main.endsWith('.ts');
const [command, ...more] = process.argv.slice(2);

if (isClone && !process.features.typescript) {
  process.stderr.write(
    `Bindery needs Node 24, and this is Node ${process.versions.node}. In its folder, "npm run -s bindery -- ${process.argv.slice(2).join(' ')}" fetches Node 24 and runs on it.\n`,
  );
  process.exit(1);
}
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `Bindery needs Node 22.19 or later, and this is Node ${process.versions.node}. Install Node 24 from https://nodejs.org or with your version manager. On Linux, "npx -y -p node-linux-${process.arch}@24 -p bindery bindery ${process.argv.slice(2).join(' ')}" fetches Node 24 and runs on it.\n`,
  );
  process.exit(1);
}
if (major < 24) {
  // SQLite in Node 22 is the one that we test with; a warning at each start helps nobody.
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = (warning, ...rest) => {
    if (!String(warning).startsWith('SQLite is an experimental')) emitWarning(warning, ...rest);
  };
}
if (command === '--version' && more.length === 0) {
  // Loading all commands takes longer than this command should.
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  process.stdout.write(`${version}\n`);
} else {
  module.enableCompileCache(join(cacheFolder(), 'compiled'));
  // Places in stack traces are those of the sources.
  if (!isClone && process.env.BINDERY_LOG_LEVEL === 'debug') process.setSourceMapsEnabled(true);
  await import(main);
}
