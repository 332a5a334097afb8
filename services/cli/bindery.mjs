#!/usr/bin/env node
// The `bindery` command. It is JavaScript, because Node compiles every TypeScript file until the cache is on, and the compiler takes 50 MB of
// memory and most of the time of a short command.
import module from 'node:module';
import { join } from 'node:path';
import { cacheFolder } from '#infra/setup/server-locations.mjs';

if (!process.features.typescript) {
  process.stderr.write(
    `Bindery needs Node 24, and this is Node ${process.versions.node}. In its folder, "npm run -s bindery -- ${process.argv.slice(2).join(' ')}" fetches Node 24 and runs on it.\n`,
  );
  process.exit(1);
}
module.enableCompileCache(join(cacheFolder(), 'compiled'));
await import('./main.ts');
