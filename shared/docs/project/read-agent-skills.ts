import { type AgentSkill, isSkillName } from './agent-skills.ts';
import { decodeSource } from './decode-source.ts';
import type { Report } from './diagnostics.ts';
import { textOf } from './json-values.ts';
import { parseFrontmatter } from './parse-frontmatter.ts';
import type { ProjectFiles } from './project-files.ts';

const skillFile = /^\.mintlify\/skills\/([^/]+)\/skill\.md$/i;
const maxFileBytes = 256 * 1024;
/** About 6,000 tokens. Agents read a skill whole. */
const mostText = 24_000;
const mostSkills = 50;
const mostDescription = 1_024;

/** Reads `.mintlify/skills/<name>/SKILL.md`, sorted by name; undefined if there are none. Skills without effect are reported. */
export async function readAgentSkills(project: ProjectFiles, report: Report): Promise<AgentSkill[] | undefined> {
  const skills: AgentSkill[] = [];
  const files = project.files.flatMap(({ path }) => {
    const [, name] = skillFile.exec(path) ?? [];
    return name === undefined ? [] : [{ path, name }];
  });
  for (const { path, name } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const leaveOut = (message: string): void =>
      report({
        severity: 'warning',
        code: 'bad-assistant-file',
        message: `${message}; the skill is left out.`,
        file: path,
      });
    if (!isSkillName(name)) {
      leaveOut(
        `The folder "${name.slice(0, 100)}" of a skill must have lower-case letters, digits and single hyphens only`,
      );
      continue;
    }
    if (skills.length === mostSkills) {
      leaveOut(`Agents get at most ${mostSkills} skills`);
      continue;
    }
    const { text } = decodeSource(await project.read(path, maxFileBytes), path);
    const description = textOf(parseFrontmatter(text, path).data['description'])
      ?.slice(0, mostDescription)
      .toWellFormed();
    if (description === undefined) leaveOut('A skill needs "name" and "description" in its frontmatter');
    else if (text.length > mostText) leaveOut(`The text has ${text.length} characters, more than ${mostText}`);
    else if (skills.every((skill) => skill.name !== name)) skills.push({ name, description, text });
  }
  return skills.length === 0 ? undefined : skills;
}
