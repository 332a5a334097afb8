import type { AssistantGuidance } from './assistant-guidance.ts';
import { decodeSource } from './decode-source.ts';
import type { Report } from './diagnostics.ts';
import { textOf } from './json-values.ts';
import { parseFrontmatter } from './parse-frontmatter.ts';
import type { ProjectFiles } from './project-files.ts';

const instructionFiles = ['.mintlify/Assistant.md', '.mintlify/ASSISTANT.md'];
const skillFile = /^\.mintlify\/assistant\/skills\/([^/]+)\/skill\.md$/i;
const slugForm = /^[a-z0-9-]{1,60}$/;

const maxFileBytes = 256 * 1024;
/** About 4,000 tokens. Every answer has them. */
const mostInstructions = 16_000;
/** About 6,000 tokens, as the format says. */
const mostSkillText = 24_000;
const mostSkills = 50;
const mostName = 100;
const mostDescription = 600;

/** Reads the instructions for the assistant; undefined if there are none. Texts are cut to their limits, and files without effect are reported. */
export async function readAssistantGuidance(
  project: ProjectFiles,
  report: Report,
): Promise<AssistantGuidance | undefined> {
  const warn = (file: string, message: string): void =>
    report({ severity: 'warning', code: 'bad-assistant-file', message, file });
  const textIn = async (path: string): Promise<string> =>
    decodeSource(await project.read(path, maxFileBytes), path).text;
  const upTo = (most: number, text: string, file: string): string => {
    if (text.length <= most) return text;
    warn(file, `The text has ${text.length} characters; the assistant reads the first ${most}.`);
    return text.slice(0, most).toWellFormed();
  };
  const paths = new Set(project.files.map(({ path }) => path));
  const file = instructionFiles.find((path) => paths.has(path));
  const instructions = file === undefined ? '' : upTo(mostInstructions, (await textIn(file)).trim(), file);
  const skills: AssistantGuidance['skills'] = [];
  for (const path of [...paths].sort()) {
    const slug = skillFile.exec(path)?.[1];
    if (slug === undefined) continue;
    if (!slugForm.test(slug)) {
      warn(
        path,
        `The folder "${slug}" of a skill must have lower-case letters, digits and hyphens only; the skill is left out.`,
      );
      continue;
    }
    if (skills.length === mostSkills) {
      warn(path, `The assistant has at most ${mostSkills} skills; this one is left out.`);
      continue;
    }
    const { data, body } = parseFrontmatter(await textIn(path), path);
    const [name, description] = [textOf(data['name']), textOf(data['description'])];
    if (name === undefined || description === undefined) {
      warn(path, 'A skill needs "name" and "description" in its frontmatter; it is left out.');
      continue;
    }
    const text = upTo(mostSkillText, body.trim(), path);
    skills.push({ slug, name: name.slice(0, mostName), description: description.slice(0, mostDescription), text });
  }
  if (instructions === '' && skills.length === 0) return undefined;
  return { ...(instructions === '' ? {} : { instructions }), skills };
}
