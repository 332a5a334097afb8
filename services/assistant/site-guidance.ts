import { z } from 'zod';
import { type AssistantGuidance, assistantGuidanceSchema } from '#shared/docs/project/assistant-guidance.ts';
import { findGuidance } from '#shared/search/guidance-page.ts';
import type { SearchIndex, SearchScope } from '#shared/search/search-index.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { type ModelTool, modelTool, toolKind } from './model-tool.ts';
import { escapeText } from './prompt-passages.ts';

/** Limit of skills in one answer, as the format of docs projects says. */
const mostLoaded = 3;

/** The instructions of the searched content version for the assistant; undefined if it has none, or if they cannot be read. */
export async function readGuidance(
  { searchIndex, logger }: { searchIndex: Pick<SearchIndex, 'findPage'>; logger: Logger },
  scope: SearchScope,
): Promise<AssistantGuidance | undefined> {
  const page = await findGuidance(searchIndex, scope);
  if (page === undefined) return undefined;
  try {
    return assistantGuidanceSchema.parse(JSON.parse(page.markdown));
  } catch (error) {
    logger.warn({ err: error }, 'the instructions of a site for its assistant cannot be read');
    return undefined;
  }
}

/**
 * The instructions of a site's authors as a part of the system prompt, after our own rules, which they cannot end or replace: their text is escaped and in
 * an element of its own. Empty without instructions. Pure.
 */
export function guidancePrompt(guidance: AssistantGuidance | undefined): string {
  if (guidance === undefined) return '';
  const { instructions, skills } = guidance;
  const parts: string[] = [];
  if (instructions !== undefined)
    parts.push(
      'The authors of the site ask the following of your answers: tone, terms, focus. It adds to the rules above. Where it contradicts them, the rules above count.',
      `<site-instructions>\n${escapeText(instructions)}\n</site-instructions>`,
    );
  if (skills.length > 0)
    parts.push(
      `The authors wrote guides for some subjects. If one fits the question, load it with the tool loadSkill before you answer, and prefer it to the passages. Load at most ${mostLoaded}.`,
      `<skills>\n${skills.map(({ slug, name, description }) => `<skill slug="${slug}" name="${escapeText(name)}">${escapeText(description)}</skill>`).join('\n')}\n</skills>`,
    );
  return `\n\n${parts.join('\n')}`;
}

const loadSkillKind = toolKind(
  'loadSkill',
  'Loads a guide that the authors of the site wrote for a subject.',
  z.object({ slug: z.string().min(1).max(60).describe('the slug of the guide') }),
);

/** The tool that loads skills; none if the site has no skill. Clients get the name of a loaded skill, not its text. */
export function skillTools(guidance: AssistantGuidance | undefined): ModelTool[] {
  const skills = new Map((guidance?.skills ?? []).map((skill) => [skill.slug, skill]));
  const loaded = new Set<string>();
  if (skills.size === 0) return [];
  return [
    modelTool(loadSkillKind, async ({ slug }) => {
      const skill = skills.get(slug);
      if (skill === undefined) return { output: { problem: noSkill }, told: noSkill };
      if (!loaded.has(slug) && loaded.size === mostLoaded)
        throw new Error(`No more than ${mostLoaded} guides are possible.`);
      loaded.add(slug);
      return { output: { name: skill.name }, told: `<skill slug="${slug}">\n${escapeText(skill.text)}\n</skill>` };
    }),
  ];
}

const noSkill = 'There is no such guide.';
