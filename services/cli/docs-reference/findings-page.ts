import type { FindingText } from '#shared/docs/findings/finding-text.ts';
import { findingGroups } from '#shared/docs/findings/finding-texts.ts';
import { page } from './markdown.ts';

/** The page with a section for each code of findings, whose anchor is the code. */
export function findingsPage(): string {
  return page(
    'Findings',
    'Every finding about a docs project, with an example and its repair.',
    'Publishing, exports and `bindery check` report the same findings. Each has a code, a severity and a sentence, and most have a file, a line and a column. `bindery check --explain <code>` prints the section of a code.',
    'An error stops publication, or takes a page or file out of it. A warning means that readers miss something. A remark (`info`) names something that can be better.',
    ...Object.entries(findingGroups).flatMap(([title, texts]) => [
      `## ${title}`,
      ...Object.entries(texts).flatMap(([name, text]) => sectionOf(name, text)),
    ]),
  );
}

function sectionOf(name: string, { severity, says, repair, example, fix = false }: FindingText): string[] {
  const kind = severity === 'info' ? 'A remark' : severity === 'error' ? 'An error' : 'A warning';
  return [
    `### ${name}`,
    `${kind}: ${says}`,
    `${repair}${fix && !repair.includes('`--fix`') ? ' `--fix` does so.' : ''}`,
    ...(example === undefined
      ? []
      : [
          fence(example.file, example.before),
          ...(example.after === '' ? [] : ['Without the finding:', fence(example.file, example.after)]),
        ]),
  ];
}

function fence(file: string, text: string): string {
  const language = file.endsWith('.json') ? 'json' : file.endsWith('.jsx') ? 'jsx' : 'mdx';
  return `\`\`\`\`${language} ${file}\n${text}\n\`\`\`\``;
}
