import { expect, test } from 'vitest';
import type { Finding } from '#shared/docs/findings/finding-texts.ts';
import { readAssistantGuidance } from './read-assistant-guidance.ts';

async function read(files: Record<string, string>) {
  const findings: Finding[] = [];
  const project = {
    files: Object.entries(files).map(([path, text]) => ({ path, sha256: '', sizeBytes: text.length })),
    read: async (path: string) => Buffer.from(files[path] ?? ''),
  };
  const guidance = await readAssistantGuidance(project, (finding) => void findings.push(finding));
  return { guidance, findings: findings.map(({ file, message }) => `${file}: ${message}`) };
}

const skills = '.mintlify/assistant/skills';

test('reads the instructions and the skills of a project', async () => {
  expect(
    await read({
      '.mintlify/Assistant.md': '\nBe kind.\n',
      [`${skills}/migrate-to-v3/skill.md`]: '---\nname: Migrate\ndescription: From 2 to 3\n---\n\n# Steps\n\n1. Go.\n',
      'Assistant.md': 'A page.',
    }),
  ).toEqual({
    guidance: {
      instructions: 'Be kind.',
      skills: [{ slug: 'migrate-to-v3', name: 'Migrate', description: 'From 2 to 3', text: '# Steps\n\n1. Go.' }],
    },
    findings: [],
  });
  expect(await read({ '.mintlify/ASSISTANT.md': 'Be kind.' })).toMatchObject({
    guidance: { instructions: 'Be kind.' },
  });
  expect(await read({ 'index.mdx': 'x' })).toEqual({ guidance: undefined, findings: [] });
});

test('texts are cut to their limits, and skills without a name or a valid slug are left out', async () => {
  const { guidance, findings } = await read({
    '.mintlify/Assistant.md': 'x'.repeat(20_000),
    [`${skills}/Not_Valid/skill.md`]: '---\nname: a\ndescription: b\n---\n',
    [`${skills}/no-name/skill.md`]: '# Steps',
    [`${skills}/long/skill.md`]: `---\nname: a\ndescription: b\n---\n${'y'.repeat(30_000)}`,
  });
  expect(guidance?.instructions).toHaveLength(16_000);
  expect(guidance?.skills.map(({ slug, text }) => [slug, text.length])).toEqual([['long', 24_000]]);
  expect(findings).toHaveLength(4);
});

test('at most 50 skills count', async () => {
  const files = Array.from({ length: 60 }, (_, at) => [
    `${skills}/s${at}/skill.md`,
    '---\nname: a\ndescription: b\n---\nx',
  ]);
  const { guidance, findings } = await read(Object.fromEntries(files));
  expect([guidance?.skills.length, findings.length]).toEqual([50, 10]);
});
