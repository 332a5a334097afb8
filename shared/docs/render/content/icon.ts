import type { Element } from 'hast';
import { s } from 'hastscript';

/** An icon, inline, so that it appears together with the text. An unknown icon gives nothing and leaves no gap in the layout. */
export function icon(name: string | undefined, className: string): Element[] {
  const shape = name === undefined ? undefined : iconShape(name);
  if (shape === undefined) return [];
  const attributes = { viewBox: '0 0 24 24', fill: 'none', stroke: 'currentColor', ariaHidden: 'true' };
  const classes = className === '' ? ['icon'] : ['icon', className];
  return [s('svg', { className: classes, ...attributes }, [s('path', { d: shape })])];
}

/** Outlines on a grid of 24 with strokes of 2, drawn for this project. */
const shapes: Record<string, string> = {
  info: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18M12 11v5M12 8h.01',
  warning: 'M12 4 2.8 20h18.4L12 4M12 10v4M12 17h.01',
  bulb: 'M9 18h6M10 21h4M8 14.5a6 6 0 1 1 8 0c-.8.7-1 1.4-1 2.5H9c0-1.100-.2-1.800-1-2.5',
  check: 'M4 12.5 9.5 18 20 6.500',
  'circle-check': 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18M8 12.300l2.800 2.700L16 9.500',
  note: 'M6 3h9l4 4v14H6zM14 3v5h5M9 12h7M9 16h5',
  danger: 'M8 3h8l5 5v8l-5 5H8l-5-5V8zM12 8v5M12 16h.01',
  xmark: 'M6 6l12 12M18 6 6 18',
  'chevron-right': 'M9 5l7 7-7 7',
  'chevron-down': 'M5 9l7 7 7-7',
  'arrow-right': 'M4 12h16M14 6l6 6-6 6',
  'arrow-left': 'M20 12H4M10 6l-6 6 6 6',
  'arrow-up-right': 'M7 17 17 7M8 7h9v9',
  'up-right-from-square': 'M14 4h6v6M20 4l-9 9M18 14v5H5V6h5',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14M16 16l5 5',
  menu: 'M4 7h16M4 12h16M4 17h16',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8M12 2v2M12 20v2M4.900 4.900l1.400 1.400M17.700 17.700l1.400 1.400M2 12h2M20 12h2M4.900 19.100l1.400-1.400M17.700 6.300l1.400-1.400',
  moon: 'M20 14.500A8.500 8.500 0 0 1 9.500 4 8.500 8.500 0 1 0 20 14.500',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  link: 'M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.700-5.700l-1.500 1.500M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.700 5.700l1.500-1.500',
  home: 'M3 11l9-8 9 8M5 10v10h5v-6h4v6h5V10',
  rocket:
    'M5 19c0-3 1-4 3-4l1 1c0 2-1 3-4 3M9 15c1-6 5-11 12-12-1 7-6 11-12 12M8 10l-4 1 2-4 4-.5M14 16l-1 4 4-2 .5-4M15.500 9.500h.01',
  bolt: 'M13 2 4 14h7l-1 8 9-12h-7z',
  code: 'M8 6l-6 6 6 6M16 6l6 6-6 6',
  terminal: 'M4 5h16v14H4zM7 9l3 3-3 3M13 15h4',
  book: 'M4 5c3-1.500 6-1 8 1 2-2 5-2.500 8-1v14c-3-1.500-6-1-8 1-2-2-5-2.500-8-1zM12 6v14',
  key: 'M15 12a4 4 0 1 0-3.500-2L3 18.500V21h4v-3h3v-3l1.500-1.500M16 8h.01',
  lock: 'M5 11h14v10H5zM8 11V7a4 4 0 0 1 8 0v4',
  shield: 'M12 3l8 3v6c0 5-3.500 8-8 9-4.500-1-8-4-8-9V6z',
  gear: 'M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6M12 2.500v3M12 18.500v3M2.500 12h3M18.500 12h3M5.300 5.300l2.100 2.100M16.600 16.600l2.100 2.100M5.300 18.700l2.100-2.100M16.600 7.400l2.100-2.100',
  database:
    'M12 8c4.400 0 8-1.300 8-3s-3.600-3-8-3-8 1.300-8 3 3.600 3 8 3M4 5v14c0 1.700 3.600 3 8 3s8-1.300 8-3V5M4 12c0 1.700 3.600 3 8 3s8-1.300 8-3',
  server: 'M4 4h16v6H4zM4 14h16v6H4zM8 7h.01M8 17h.01',
  cloud: 'M7 19a5 5 0 0 1-.5-10A6 6 0 0 1 18 9.500 4.800 4.800 0 0 1 17.500 19z',
  globe: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18M3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18',
  user: 'M12 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8M4 21c0-4.500 3.500-7 8-7s8 2.500 8 7',
  users:
    'M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8M2 21c0-4.500 3-7 7-7s7 2.500 7 7M16 4a4 4 0 0 1 0 7M18 14.500c2.500 1 4 3.200 4 6.500',
  comments: 'M3 4h14v10H9l-4 4v-4H3zM9 18h8l4 3v-11h-1',
  envelope: 'M3 5h18v14H3zM3 6l9 7 9-7',
  folder: 'M3 6h6l2 2h10v11H3z',
  'folder-open': 'M3 19V6h6l2 2h8v3M3 19l3-8h16l-3 8z',
  file: 'M6 3h8l5 5v13H6zM14 3v5h5',
  image: 'M3 4h18v16H3zM3 16l5-5 4 4 3-3 6 5M15 8h.01',
  star: 'M12 3l2.800 5.700 6.200.9-4.500 4.400 1 6.200L12 17.300 6.500 20.200l1-6.200L3 9.600l6.200-.9z',
  sparkles: 'M11 4l1.800 5.200L18 11l-5.200 1.800L11 18l-1.800-5.200L4 11l5.200-1.800zM19 3v4M17 5h4M19 17v4M17 19h4',
  heart: 'M12 20S3 14.500 3 8.800A4.800 4.800 0 0 1 12 7a4.800 4.800 0 0 1 9 1.800C21 14.500 12 20 12 20',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18M12 7v5l3 3',
  calendar: 'M4 5h16v16H4zM4 10h16M8 2v5M16 2v5',
  chart: 'M4 4v16h16M8 16v-4M12 16V8M16 16v-7',
  layers: 'M12 3 2 8l10 5 10-5zM2 12.500l10 5 10-5M2 17l10 5 10-5',
  puzzle: 'M4 8h4a2.500 2.500 0 1 1 5 0h4v4a2.500 2.500 0 1 1 0 5v4H4z',
  wrench: 'M14 6a5 5 0 0 1 6.500-3L17 6.500 17.500 9l2.500-.5a5 5 0 0 1-7 5.500L6 21l-3-3 7-7a5 5 0 0 1 4-5',
  box: 'M12 2l9 5v10l-9 5-9-5V7zM3 7l9 5 9-5M12 12v10',
  download: 'M12 3v12M7 10l5 5 5-5M4 20h16',
  upload: 'M12 16V4M7 9l5-5 5 5M4 20h16',
  play: 'M7 4l13 8-13 8z',
  tag: 'M3 3h8l10 10-8 8L3 11zM7.500 7.500h.01',
  list: 'M9 6h12M9 12h12M9 18h12M4 6h.01M4 12h.01M4 18h.01',
  pencil: 'M4 20l1-5L16 4l4 4L9 19zM14 6l4 4',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 14h10l1-14M10 11v6M14 11v6',
  plus: 'M12 5v14M5 12h14',
  minus: 'M5 12h14',
  question:
    'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18M9.500 9.500a2.500 2.500 0 1 1 3.500 2.300c-.7.3-1 .8-1 1.700M12 16.500h.01',
  flag: 'M5 21V4h13l-2.500 4L18 12H5',
  eye: 'M2 12c2.500-4.500 6-7 10-7s7.500 2.500 10 7c-2.500 4.500-6 7-10 7s-7.500-2.500-10-7M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6',
  bell: 'M6 16V11a6 6 0 1 1 12 0v5l2 2H4zM10 21h4',
  robot: 'M5 8h14v11H5zM12 8V4M9 12.500h.01M15 12.500h.01M9 16h6M2 12v4M22 12v4',
  branch: 'M6 3v12M6 21a3 3 0 1 0 0-6 3 3 0 0 0 0 6M18 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6M18 9c0 5-4 7-9 8',
  github:
    'M9 19c-4 1.300-4-2-6-2.500M15 21v-3.500c0-1 .1-1.400-.5-2 2.800-.3 5.500-1.400 5.500-6a4.600 4.600 0 0 0-1.300-3.200 4.200 4.200 0 0 0-.1-3.200s-1.100-.3-3.500 1.300a12 12 0 0 0-6.200 0C6.500 2.800 5.400 3.100 5.400 3.100a4.200 4.200 0 0 0-.1 3.200A4.600 4.600 0 0 0 4 9.500c0 4.600 2.700 5.700 5.500 6-.6.6-.6 1.200-.5 2V21',
  x: 'M4 4l16 16M20 4 4 20',
  discord:
    'M8 7c2.500-1 5.500-1 8 0M8 17c2.500 1 5.500 1 8 0M15.500 17l1 2c2-.5 3.500-1.300 4.500-2.500 0-5-1-8.500-3-11.500-1-.7-2.200-1.200-3.500-1.500L14 5.300M8.500 17l-1 2C5.500 18.500 4 17.700 3 16.500 3 11.500 4 8 6 5c1-.7 2.200-1.200 3.500-1.500L10 5.300M9 12h.01M15 12h.01',
  linkedin: 'M4 4h16v16H4zM8 11v5M8 8h.01M12 16v-5M12 13c0-1.300 1-2 2-2s2 .7 2 2v3',
  youtube: 'M3 6h18v12H3zM10 9.500v5l4.500-2.500z',
  slack: 'M10 3v8M14 13v8M3 14h8M13 10h8',
  rss: 'M5 5c8 0 14 6 14 14M5 11c4.500 0 8 3.500 8 8M6 18h.01',
};

/** Names that icon libraries have for the shapes that are drawn here. */
const synonyms: Record<string, string> = {
  info: 'circle-info info-circle circle-exclamation alert-circle',
  warning: 'triangle-exclamation exclamation-triangle alert-triangle',
  bulb: 'lightbulb lightbulb-on',
  'circle-check': 'check-circle',
  danger: 'circle-xmark octagon-exclamation bug',
  note: 'file-lines file-text file-code',
  code: 'square-code brackets brackets-curly code-simple braces js python',
  terminal: 'square-terminal rectangle-terminal',
  'up-right-from-square': 'external-link arrow-up-right-from-square',
  search: 'magnifying-glass',
  menu: 'bars',
  home: 'house',
  bolt: 'bolt-lightning zap fire',
  book: 'book-open book-open-cover books',
  shield: 'shield-check shield-halved user-shield',
  gear: 'cog gears settings sliders',
  wrench: 'toolbox screwdriver-wrench hammer tools',
  cloud: 'cloud-arrow-up cloud-arrow-down',
  globe: 'earth earth-americas website language',
  users: 'user-group team',
  comments: 'comment message message-square message-lines',
  envelope: 'mail',
  folder: 'folder-tree',
  image: 'photo',
  sparkles: 'wand-magic-sparkles wand magic stars',
  clock: 'stopwatch timer clock-rotate-left',
  chart: 'chart-line chart-bar chart-simple bar-chart',
  layers: 'layer-group stack',
  puzzle: 'puzzle-piece plug',
  box: 'cube cubes package',
  tag: 'tags',
  list: 'list-check list-ul',
  pencil: 'edit pen-to-square pen',
  question: 'circle-question help-circle',
  play: 'circle-play',
  robot: 'microchip-ai message-bot brain',
  branch: 'code-branch git-branch git-alt code-merge diagram-project',
  x: 'x-twitter twitter',
  linkedin: 'linkedin-in',
  github: 'square-github',
};

const known: ReadonlyMap<string, string> = new Map([
  ...Object.entries(synonyms).flatMap(([name, others]) =>
    others.split(' ').map((other) => [other, shapes[name] ?? ''] as const),
  ),
  ...Object.entries(shapes),
]);

/** Path of an icon by the name that its library has for it; undefined for one that is not drawn here. */
export function iconShape(name: string): string | undefined {
  const plain = name.toLowerCase().replace(/^(fa-|lucide-|tabler-|icon-)/, '');
  return known.get(plain);
}
