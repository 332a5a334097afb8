import { readFileSync } from 'node:fs';
import type { RenderedFile } from '../bundle-paths.ts';
import { packageFile } from '#shared/runtime/installed-packages.ts';

/** A font file. `name` is its file name without the extension. */
type Face = { name: string; family: string; bold: boolean; italic: boolean; rule: string };
/** A rule that chooses a font for elements with all of these classes. */
type Choice = { classes: string[]; family: string | undefined; bold: boolean; italic: boolean };
type Sheet = { text: string; faces: Face[]; choices: Choice[] };

let known: Sheet | undefined;

/** KaTeX's own style sheet, which maps classes to fonts. */
function sheet(): Sheet {
  known ??= readSheet(readFileSync(packageFile('katex/dist/katex.min.css'), 'utf8'));
  return known;
}

function readSheet(text: string): Sheet {
  const faces: Face[] = [];
  const choices: Choice[] = [];
  for (const [rule, selectors = '', body = ''] of text.matchAll(/([^{}]+)\{([^{}]*)\}/g)) {
    const family = /font-family:"?(KaTeX_\w+)/.exec(body)?.[1];
    const bold = /font-weight:700/.test(body);
    const italic = /font-style:italic/.test(body);
    if (selectors === '@font-face') {
      const name = /url\(fonts\/([\w-]+)\.woff2\)/.exec(body)?.[1];
      if (name !== undefined && family !== undefined) faces.push({ name, family, bold, italic, rule });
    } else if (family !== undefined || bold || italic) {
      for (const selector of selectors.split(',')) {
        const last =
          selector
            .replace(/>span$/, '')
            .split(/[ >]/)
            .at(-1) ?? '';
        choices.push({ classes: last.split('.').slice(1), family, bold, italic });
      }
    }
  }
  return { text, faces, choices };
}

const base = { family: 'KaTeX_Main', bold: false, italic: false };

/**
 * Names of the font files for elements with these class attributes, and the file of plain text. If a family lacks a weight or slant, all its files
 * are included.
 */
export function facesOf(classLists: Iterable<string>): Set<string> {
  const { faces, choices } = sheet();
  const names = new Set<string>();
  const need = ({ family, bold, italic }: typeof base): void => {
    const ofFamily = faces.filter((face) => face.family === family);
    const exact = ofFamily.filter((face) => face.bold === bold && face.italic === italic);
    for (const { name } of exact.length > 0 ? exact : ofFamily) names.add(name);
  };
  need(base);
  for (const list of classLists) {
    const own = new Set(list.split(' '));
    const chosen = choices.filter(({ classes }) => classes.every((name) => own.has(name)));
    if (chosen.length === 0) continue;
    const bold = chosen.some((choice) => choice.bold);
    const italic = chosen.some((choice) => choice.italic);
    const families = new Set(chosen.flatMap(({ family }) => family ?? []));
    for (const family of families.size > 0 ? families : [base.family]) need({ family, bold, italic });
  }
  return names;
}

/** `_bindery/math.css` and the fonts that it names: only those of `names`, and only in the format that all browsers support. */
export function mathFiles(names: ReadonlySet<string>): RenderedFile[] {
  const { text, faces } = sheet();
  const used = faces.filter(({ name }) => names.has(name)).sort((a, b) => (a.name < b.name ? -1 : 1));
  const rules = used.map(({ rule, name }) => rule.replace(/src:[^}]*/, `src:url(fonts/${name}.woff2) format("woff2")`));
  const rest = text.replace(/@font-face\{[^}]*\}/g, '');
  return [
    { path: '_bindery/math.css', body: Buffer.from(`${rules.join('\n')}\n${rest}\n`) },
    ...used.map(({ name }) => ({ path: `_bindery/fonts/${name}.woff2`, body: fontFile(name) })),
  ];
}

const fontFile = (name: string): Buffer => readFileSync(packageFile(`katex/dist/fonts/${name}.woff2`));
