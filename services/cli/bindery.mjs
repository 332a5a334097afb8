#!/usr/bin/env node
// The `bindery` command. It is JavaScript, because Node compiles every TypeScript file until the cache is on, and the compiler takes 50 MB of
// memory and most of the time of a short command.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { cacheFolder } from '#infra/setup/server-locations.mjs';

enableCompileCache(join(cacheFolder(), 'compiled'));
await import('./main.ts');
