import { z } from 'zod';

/** Instructions of a project for agents of its readers, as a file `SKILL.md` with frontmatter (agentskills.io). */
export const agentSkillSchema = z.object({
  /** Lower-case letters, digits and hyphens; the name of its folder. */
  name: z.string(),
  description: z.string(),
  /** The whole file, with its frontmatter. */
  text: z.string(),
});

export type AgentSkill = z.infer<typeof agentSkillSchema>;

/** True for a name that the format of skills allows. Pure. */
export const isSkillName = (name: string): boolean => name.length <= 64 && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name);
