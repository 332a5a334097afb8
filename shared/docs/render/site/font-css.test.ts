import { describe, expect, it } from 'vitest';
import type { SiteFont } from '#shared/docs/project/site-model.ts';
import { fontCss } from './font-css.ts';

const font = (family: string, path?: string, more: Partial<SiteFont> & { variable?: boolean } = {}): SiteFont => {
  const { variable = false, ...rest } = more;
  return { family, ...rest, ...(path !== undefined && { file: { path, format: 'woff2', variable } }) };
};
const css = (fonts: Parameters<typeof fontCss>[0]): string => fontCss(fonts, (path) => path !== 'gone.woff2');
const weights = (text: string): string[] => [...text.matchAll(/font-weight: (.*);/g)].map(([, weight = '']) => weight);

describe('the fonts of a project in the style sheet', () => {
  it('have their files, and the variables of the theme', () => {
    expect(css({ body: font('In ter', 'fonts/é b.woff2', { weight: 450 }), heading: font('serif') })).toBe(
      `/* Fonts of the project. */
@font-face {
  font-family: "In ter";
  src: url("../fonts/%C3%A9%20b.woff2") format("woff2");
  font-weight: 450;
  font-display: swap;
}
:root {
  --sans: "In ter", var(--system-sans);
  --body-weight: 450;
  --heading-font: serif, var(--sans);
}
`,
    );
  });

  it('have weights for which browsers synthesize no bold', () => {
    expect(weights(css({ body: font('A', 'a.woff2'), heading: font('A', 'a.woff2') }))).toEqual(['400']);
    expect(weights(css({ body: font('A', 'a.woff2'), heading: font('A', 'b.woff2') }))).toEqual(['400', '700']);
    expect(weights(css({ body: font('A', 'a.woff2'), heading: font('B', 'b.woff2') }))).toEqual(['400', '1 1000']);
    expect(weights(css({ heading: font('B', 'b.woff2') }))).toEqual(['1 1000']);
    expect(weights(css({ body: font('A', 'a.woff2', { variable: true }) }))).toEqual(['1 1000']);
  });

  it.each<[string, SiteFont, SiteFont]>([
    ['of the same weight', font('A', 'a.woff2', { weight: 600 }), font('A', 'b.woff2', { weight: 600 })],
    ['with all weights for the text', font('A', 'a.woff2', { variable: true }), font('A', 'b.woff2')],
    ['with all weights for headings', font('A', 'a.woff2'), font('A', 'b.woff2', { variable: true })],
  ])('are two if one family has two files %s', (_name, body, heading) => {
    const made = css({ body, heading });
    expect([...made.matchAll(/font-family: (.*);\n {2}src: url\("([^"]*)"\)/g)].map(([, ...found]) => found)).toEqual([
      ['"A"', '../a.woff2'],
      ['"A headings"', '../b.woff2'],
    ]);
    expect(made).toContain('--sans: "A", var(--system-sans);');
    expect(made).toContain('--heading-font: "A headings", var(--sans);');
  });

  it('have only files of the bundle', () => {
    expect(css({ body: font('A', 'gone.woff2') })).not.toContain('@font-face');
  });

  it('are escaped names', () => {
    const family = 'A"; } body { display: none } @import "//e.invalid"; </style>\\\n\ud800';
    const made = css({ body: font(family, 'a.woff2'), heading: font(family) });
    const name =
      '"A\\22 \\3b  \\7d  body \\7b  display\\3a  none \\7d  \\40 import \\22 \\2f \\2f e\\2e invalid\\22 \\3b  \\3c \\2f style\\3e \\5c \\a \\fffd "';
    expect(made.split(name)).toHaveLength(4);
    expect(made.replaceAll(name, '')).not.toMatch(/import|invalid|<|display: none/);
  });
});
