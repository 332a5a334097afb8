/*
 * `npm run stack`: a production installation on this machine without containers, in normal work and under outages.
 *
 *   npm run stack                       on the projects beside the repository, or else on Bindery's own documentation
 *   npm run stack -- <folder> …         on these projects; the last one is exported under outages
 *
 * It needs nats-server, redis-server, versitygw and Elasticsearch: "npm test" and "npm run servers" bring them.
 */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { messageOf } from '#shared/runtime/failures.ts';
import { chaosProject, corpusFolder, ownDocumentation } from '../support/docs-projects.ts';
import { runStack } from './run-stack.ts';

const projectsBeside = (): string[] => {
  if (!existsSync(corpusFolder)) return [ownDocumentation];
  const folders = readdirSync(corpusFolder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const others = folders.map(({ name }) => join(corpusFolder, name)).filter((folder) => folder !== chaosProject.folder);
  return [...others, chaosProject.folder];
};

const given = process.argv.slice(2);
const projects = (given.length > 0 ? given : projectsBeside()).map((folder) => ({ name: basename(folder), folder }));
const last = projects.at(-1);
const say = (line: string) => process.stdout.write(`${line}\n`);
try {
  if (last !== undefined) await runStack(projects.slice(0, -1), last, say);
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}
