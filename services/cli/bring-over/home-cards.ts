import type { PageContext } from './convert-page.ts';
import { attributeText } from './page-lines.ts';
import { field, listIn, textIn } from './read-config.ts';

/** The tagline, buttons and features of a home page, which Starlight and VitePress have in its frontmatter, as text, links and cards. */
export function homeCards(found: Record<string, unknown>, target: PageContext['target']): string {
  const hero = found['hero'];
  const [text, tagline] = [textIn(field(hero, 'text')), textIn(field(hero, 'tagline'))];
  const actions = listIn(field(hero, 'actions')).flatMap((action) => {
    const [label, link] = [textIn(field(action, 'text')), textIn(field(action, 'link'))];
    return label === undefined || link === undefined ? [] : [`[${label}](${target(link, 1)})`];
  });
  const cards = listIn(found['features']).flatMap((feature) => {
    const [title, details, link] = [field(feature, 'title'), field(feature, 'details'), field(feature, 'link')].map(
      textIn,
    );
    if (title === undefined) return [];
    const href = link === undefined ? '' : ` href=${attributeText(target(link, 1))}`;
    return [`  <Card title=${attributeText(title)}${href}>${escaped(details ?? '')}</Card>`];
  });
  return [
    ...[text, tagline].flatMap((each) => (each === undefined ? [] : [escaped(each)])),
    ...(actions.length > 0 ? [actions.join(' · ')] : []),
    ...(cards.length > 0 ? [`<CardGroup cols={2}>\n${cards.join('\n')}\n</CardGroup>`] : []),
  ].join('\n\n');
}

const escaped = (text: string): string => text.replaceAll(/[{}<]/g, (character) => `\\${character}`);
