import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { siteBase } from '../bundle-paths.ts';
import type { SiteIndex } from '../site-index.ts';
import { skillOfSite } from './crawler-files.ts';
import { skillDescription, skillName } from './skill-file.ts';

const schema = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json';
const folder = '.well-known/agent-skills';
/** The folder of earlier clients. */
const earlierFolder = '.well-known/skills';

/**
 * The skills of a site as agents find them: an index with a digest of each, below `/.well-known/agent-skills/`, and the same below `/.well-known/skills/` in
 * the form of earlier clients. The first skill is the one that is made from the documentation, unless the project has its own `skill.md`.
 */
export function agentSkillFiles(index: SiteIndex): [string, () => string][] {
  const { settings, agentSkills = [] } = index.model;
  const base = siteBase(settings) ?? '';
  const hasOwn = index.files.has('skill.md') || index.files.has('SKILL.md');
  const name = skillName(settings.name);
  const made: MadeSkill[] =
    hasOwn || agentSkills.some((skill) => skill.name === name)
      ? []
      : [{ name, description: skillDescription(settings), textOf: () => skillOfSite(index) }];
  const skills = [...made, ...agentSkills.map(({ text, ...skill }) => ({ ...skill, textOf: () => text }))];
  if (skills.length === 0) return [];
  const listed = () =>
    skills.map(({ textOf, ...skill }) => ({
      ...{ name: skill.name, type: 'skill-md', description: skill.description },
      ...{ url: `${base}/${folder}/${skill.name}/SKILL.md`, digest: `sha256:${sha256Of(textOf())}` },
    }));
  const earlier = skills.map((skill) => ({ name: skill.name, description: skill.description, files: ['SKILL.md'] }));
  return [
    [`${folder}/index.json`, () => `${JSON.stringify({ $schema: schema, skills: listed() }, null, 1)}\n`],
    [`${earlierFolder}/index.json`, () => `${JSON.stringify({ skills: earlier }, null, 1)}\n`],
    ...skills.flatMap(({ name: of, textOf }): [string, () => string][] =>
      [folder, earlierFolder].map((each) => [`${each}/${of}/SKILL.md`, textOf]),
    ),
  ];
}

/** A skill whose text is made when it is needed. */
type MadeSkill = { name: string; description: string; textOf: () => string };
