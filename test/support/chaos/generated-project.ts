import { packTar } from '../pack-tar.ts';

const paragraph =
  'A renderer takes a chunk of pages, renders each in a child process, and stores one segment with its sidecar. ';

/** A docs project of so many pages as a `.tar.gz`, each of some 2 kB with headings, a list, code and a callout. `name` is in every page. */
export function generatedProject(name: string, pageCount: number): Promise<Buffer<ArrayBuffer>> {
  return packTar(generatedFiles(name, pageCount));
}

/** Its files by path, for those who change some of them. */
export function generatedFiles(name: string, pageCount: number): Record<string, string> {
  const paths = Array.from({ length: pageCount }, (_, at) => `guides/part-${Math.floor(at / 50)}/page-${at}`);
  const groups = [...Map.groupBy(paths, (path) => path.split('/')[1] ?? '')].map(([group, pages]) => ({
    group,
    pages,
  }));
  const settings = { name, theme: 'mint', colors: { primary: '#0d9373' }, navigation: { groups } };
  return {
    'docs.json': JSON.stringify(settings),
    ...Object.fromEntries(paths.map((path, at) => [`${path}.mdx`, pageSource(name, at)])),
  };
}

const pageSource = (name: string, at: number): string => `---
title: "Page ${at} of ${name}"
description: "What page ${at} is about"
---

## First steps

${paragraph.repeat(4)}

- one thing of ${name}
- another, with \`code\` and **weight**

<Note>Page ${at} has a note of its own.</Note>

## An example

\`\`\`typescript
export const answer${at} = (question: string): number => question.length + ${at};
\`\`\`

${paragraph.repeat(8)}
`;
