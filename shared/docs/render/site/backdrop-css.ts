import { lightDarkOf, objectOf, textOf } from '#shared/docs/project/json-values.ts';
import type { SiteSettings } from '#shared/docs/project/site-model.ts';
import { decoded } from '#shared/docs/project/url-policy.ts';
import { encodePath, pagePathOfAddress } from '../bundle-paths.ts';

/**
 * Rules of `_bindery/theme.css` for the `background` of a project, except its colours: a picture, or a decoration of the format, behind the top of
 * every page. `isThere`: true if the bundle has a file of the project; pictures of other sites are left out. Empty if the project has neither. Text
 * of `docs.json` only becomes an encoded address.
 */
export function backdropCss(background: SiteSettings['background'], isThere: (path: string) => boolean): string {
  const { decoration, image } = objectOf(background);
  const picture = lightDarkOf(image);
  const layerOf = (address: string | undefined): string | undefined => {
    const path = address === undefined ? '' : pagePathOfAddress(decoded(address));
    return isThere(path) ? `url("../${encodePath(path)}") top center / cover no-repeat` : undefined;
  };
  const light = layerOf(picture?.light);
  const dark = layerOf(picture?.dark);
  if (light !== undefined || dark !== undefined) {
    return `\n/* Picture of the project. */\n@media screen {\n${before('fixed', 'background: var(--backdrop, none)')}}
:root {\n  --backdrop: ${light ?? 'none'};\n}\n:root.dark {\n  --backdrop: ${dark ?? 'none'};\n}\n`;
  }
  const drawing = drawings.get(textOf(decoration) ?? '');
  return drawing === undefined ? '' : `\n/* Decoration. */\n@media screen {\n${before('absolute', drawing)}}\n`;
}

/**
 * A layer below everything, the sidebar included, that does not receive clicks. A picture stays fixed when the page scrolls, a decoration scrolls
 * with it.
 */
const before = (position: 'absolute' | 'fixed', paint: string): string => `  body::before {
    content: "";
    position: ${position};
    inset: 0 0 ${position === 'fixed' ? '0' : 'auto'};
    ${position === 'fixed' ? '' : 'height: min(480px, 100%);\n    '}z-index: -1;
    pointer-events: none;
    ${paint};
  }
  @media (min-width: 1024px) {
    .sidebar {
      background: none;
    }
  }
`;

const fading = 'mask-image: linear-gradient(#000, transparent)';
const line = 'var(--line) 1px, transparent 1px';
const tint = (percent: number): string => `color-mix(in oklab, var(--accent) ${percent}%, transparent)`;

const drawings = new Map([
  ['gradient', `background: radial-gradient(64rem 26rem at 50% -6rem, ${tint(12)}, transparent)`],
  [
    'grid',
    `background: linear-gradient(${line}) center top / 40px 40px, linear-gradient(to right, ${line}) center top / 40px 40px;\n    ${fading}`,
  ],
  [
    'windows',
    `background: repeating-linear-gradient(105deg, ${tint(7)} 0 160px, transparent 160px 208px, ${tint(4)} 208px 288px, transparent 288px 320px);\n    ${fading}`,
  ],
]);
