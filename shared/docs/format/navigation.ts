import { done, each, not, type SupportTable } from './support.ts';
import { address, anything, description, file, flag, group, icon, list, number, oneOf, text } from './value-kinds.ts';

const noPages = 'pages are made from OpenAPI and AsyncAPI descriptions';

/** Lists of divisions by their keys, with the kind of their members, which is also the key of a member's name. */
export const divisionLists = [
  ['tabs', 'tab'],
  ['dropdowns', 'dropdown'],
  ['anchors', 'anchor'],
  ['products', 'product'],
  ['versions', 'version'],
  ['languages', 'language'],
  ['menu', 'item'],
] as const;

const hidden = done('True if the sidebar and the search leave it out.', flag);
const href = done('Address that it leads to, in place of pages.', address);
const ownIcon = done('Icon before the name.', icon);

/** Support for the keys of the nodes in `navigation`. */
export const navigationSupport: SupportTable = {
  pages: done('Pages by path without ending, operations such as `GET /users`, and groups.', list),
  groups: done('Groups of the sidebar.', list),
  tabs: done('Tabs below the header.', list),
  anchors: done('Links above the sidebar.', list),
  dropdowns: done('Choices above the sidebar.', list),
  products: done('Documentation of several products.', list),
  versions: done('Documentation of several versions.', list),
  languages: done('Documentation in several languages.', list),
  global: done('Divisions that all pages show: `anchors`, `tabs` and others.', group),
  'group.group': done('Heading of the group.'),
  'group.icon': ownIcon,
  'group.iconType': done(
    'Style of the icon, in Font Awesome’s names.',
    oneOf(['regular', 'solid', 'light', 'thin', 'sharp-solid', 'duotone', 'brands']),
  ),
  'group.tag': done('Label after the heading, such as `NEW`.'),
  'group.root': done('Page to which the heading leads.', address),
  'group.expanded': done('True if the group is open at the beginning.', flag),
  'group.hidden': hidden,
  'group.searchable': done('False if the search leaves out its pages.', flag),
  'group.openapi': done('OpenAPI description whose operations are the pages of the group.', description),
  'group.asyncapi': done('AsyncAPI description whose channels are the pages of the group.', description),
  'group.directory': not(
    'Form of a list of the pages of the group.',
    'Bindery generates no lists of pages: write cards',
    text,
  ),
  'group.boost': not(
    'Weight of the pages in the search.',
    'the ranking of the search has one rule for all pages; `boost` of a page counts',
    number,
  ),
  'group.public': not(
    'True if everyone may read the pages.',
    '`groups` in the frontmatter of a page decides who may read it',
    flag,
  ),
  'tab.tab': done('Name of the tab.'),
  'tab.icon': ownIcon,
  'tab.href': href,
  'tab.hidden': hidden,
  'tab.searchable': done('False if the search leaves out its pages.', flag),
  'tab.menu': done('Choices that the tab opens.', list),
  'menu.item': done('Name of the choice.'),
  'menu.icon': ownIcon,
  'menu.href': href,
  'menu.description': not('Text below the name.', 'choices are lists of names'),
  'anchor.anchor': done('Name of the link.'),
  'anchor.icon': ownIcon,
  'anchor.href': href,
  'anchor.hidden': hidden,
  'anchor.color': not('Colour of the icon.', 'colour is used only where it carries meaning', anything),
  'dropdown.dropdown': done('Name of the choice.'),
  'dropdown.icon': ownIcon,
  'dropdown.href': href,
  'dropdown.hidden': hidden,
  'dropdown.description': not('Text below the name.', 'choices are lists of names'),
  'product.product': done('Name of the product.'),
  'product.icon': ownIcon,
  'product.href': href,
  'product.menu': done('Choices that the product opens.', list),
  'product.description': not('Text below the name.', 'choices are lists of names'),
  'version.version': done('Name of the version.'),
  'version.default': done('True for the version that readers see first.', flag),
  'version.tag': done('Label after the name, such as `Latest`.'),
  'version.hidden': hidden,
  'version.href': href,
  'language.language': done('Code of the language, such as `en` or `pt-BR`.'),
  'language.default': done('True for the language that readers see first.', flag),
  'language.hidden': hidden,
  'language.banner': not('Banner in this language.', 'a site has one banner', group),
  'language.footer': not('Footer in this language.', 'a site has one footer', group),
  'language.navbar': not('Header in this language.', 'a site has one header', group),
  openapi: done('OpenAPI descriptions whose operations are pages here.', description),
  asyncapi: done('AsyncAPI descriptions whose channels are pages here.', description),
  ...each('graphql sdk', (name) => not(`Description for pages about ${name}.`, noPages, anything)),
  'openapi.directory': done('Folder of the pages that are made from the description.', file),
};
