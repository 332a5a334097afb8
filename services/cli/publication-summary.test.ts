import { expect, test } from 'vitest';
import { summaryText } from './publication-summary.ts';

test('a summary has the address, the source, the checks and the pages that changed, and marks of Markdown stand for themselves', () => {
  const text = summaryText({
    domain: 'docs',
    contentVersion: 'cv_1',
    pages: 2,
    address: 'https://pr-12.docs.example',
    isPreview: true,
    source: { commit: 'a'.repeat(40), branch: 'a|b', pullRequest: 12 },
    diagnostics: [],
    changes: {
      domain: 'docs',
      contentVersion: 'cv_1',
      from: 'cv_0',
      summary: { added: 0, removed: 0, changed: 1, unchanged: 1, otherFiles: 1 },
      changes: [
        { kind: 'page', path: 'guide_one', title: 'Guide', change: 'changed' },
        { kind: 'file', path: 'docs.json', change: 'changed' },
      ],
    },
  });
  expect(text).toContain('### Documentation: preview of docs\n\n**https://pr-12.docs.example**');
  expect(text).toContain('| From | pull request 12, a\\|b at aaaaaaa |');
  expect(text).toContain('| Pages changed | 1 |');
  expect(text).toContain('- changed: guide\\_one\n');
  expect(text).not.toContain('docs.json');
});
