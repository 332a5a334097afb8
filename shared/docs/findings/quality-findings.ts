import type { FindingTexts } from './finding-text.ts';

/** Findings about accessibility, and about the weight of pages and pictures. */
export const qualityFindings = {
  'missing-alt-text': {
    severity: 'warning',
    says: 'a picture has no description for readers who do not see it.',
    repair: 'Describe what the picture shows. A picture that only decorates gets `alt=""` in an `<img>`.',
    example: {
      file: 'index.mdx',
      before: '<img src="/images/one.svg" />',
      after: '<img src="/images/one.svg" alt="The console with three jobs" />',
    },
    others: { 'images/one.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>' },
  },
  'skipped-heading-level': {
    severity: 'info',
    says: 'a heading is more than one level below the heading before it. Readers with a screen reader miss a level in the outline of the page.',
    repair: 'Use the next level.',
    example: {
      file: 'index.mdx',
      before: '## Install\n\n#### On Linux\n\nWords.',
      after: '## Install\n\n### On Linux\n\nWords.',
    },
  },
  'empty-link-text': {
    severity: 'warning',
    says: 'a link has neither text nor a picture with a description, so its readers cannot tell where it leads.',
    repair: 'Write a text.',
    example: {
      file: 'index.mdx',
      before: '[](https://example.com/tool)',
      after: '[The tool](https://example.com/tool)',
    },
  },
  'vague-link-text': {
    severity: 'info',
    says: 'the text of a link, such as "here", does not say where it leads. Screen readers list links without the words around them.',
    repair: 'Let the text name the target.',
    example: {
      file: 'index.mdx',
      before: 'For the guide, click [here](https://example.com/guide).',
      after: 'Read the [guide to exports](https://example.com/guide).',
    },
  },
  'heavy-picture': {
    severity: 'info',
    says: 'a picture that pages show has more than 1 MB.',
    repair: 'Make it smaller, or save it as WebP or AVIF. A recording is smaller as a video than as a GIF.',
  },
  'heavy-page': {
    severity: 'info',
    says: 'a page loads more than 5 MB of HTML and pictures of the project, which takes many seconds on a telephone.',
    repair: 'Make its pictures smaller, or split the page.',
  },
} satisfies FindingTexts;
