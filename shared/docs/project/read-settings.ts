import type { FindingCode } from '#shared/docs/findings/finding-texts.ts';
import { reportWrongValues } from '#shared/docs/format/report-wrong-values.ts';
import { settingValues, topSettings } from '#shared/docs/format/settings.ts';
import { colourPattern } from '#shared/docs/format/value-kinds.ts';
import { InvalidProject, quoted, type Report } from './diagnostics.ts';
import {
  jsonCopy,
  type JsonObject,
  type JsonValue,
  lightDarkOf,
  listOf,
  objectOf,
  objectsOf,
  textOf,
  textRecordOf,
  textsOf,
} from './json-values.ts';
import { readAnalytics } from './read-analytics.ts';
import { iconOf } from './read-icons.ts';
import { readPageMenu } from './read-page-menu.ts';
import { fileOfSetting } from './project-files.ts';
import { readThumbnails } from './read-thumbnails.ts';
import { guessAmong } from '#shared/runtime/problem-text.ts';
import { classifyUrl, isInlineImage, isSafeHref } from './url-policy.ts';
import type { SiteSettings } from './site-model.ts';

const defaultPrimary = '#16A34A';
/** Maximum number of unknown settings whose names are compared with the known ones. */
const mostGuesses = 20;
/** Matches addresses that their author probably meant as a host, by the most common top-level domains. */
const hostName = /^(?:www\.)?[a-z\d-]+(?:\.[a-z\d-]+)*\.(?:ai|app|co|com|dev|edu|io|net|org)(?:\/|$)/i;

/**
 * Reads `docs.json`, with its references resolved, as `SiteSettings`. A missing name throws `InvalidProject`. Everything else has a default, and
 * wrong values are reported and left out. Fonts are read elsewhere, because they need the project's files.
 */
export function readSettings(config: JsonObject, file: string, report: Report): SiteSettings {
  const warn = (code: FindingCode, message: string): void => report({ severity: 'warning', code, message, file });
  const name = textOf(config['name']);
  if (name === undefined) {
    throw new InvalidProject('missing-setting', file, `${file} has no "name". Add the name of the documentation.`);
  }
  let unknownCount = 0;
  for (const key of Object.keys(config)) {
    if (!topSettings.has(key)) {
      const guess = unknownCount < mostGuesses ? guessAmong(key, [...topSettings]) : '';
      unknownCount += 1;
      const message = `"${key.slice(0, 60)}" is not a known setting, so it has no effect${guess}${guess === '' ? '.' : '?'}`;
      report({ severity: 'info', code: 'unknown-setting', message, file });
    }
  }
  reportWrongValues(config, file, report);
  const href = (value: JsonValue | undefined, field: string): string | undefined => {
    const text = textOf(value);
    if (text !== undefined && hostName.test(text)) {
      const message = `"${field}" is ${quoted(text)}, which is a path of this site. Write ${quoted(`https://${text}`)} if it is a host.`;
      warn('bad-link', message);
    }
    if (text === undefined || isSafeHref(text)) return text;
    const message = `"${field}" is ${quoted(text)}, which is not an address that a page may link to. Use https, mailto or a path.`;
    warn('bad-link', message);
    return undefined;
  };
  const colors = objectOf(config['colors']);
  const primary = colorOf(colors['primary']);
  if (textOf(config['theme']) === undefined) warn('missing-setting', `${file} has no "theme"; "mint" is used.`);
  if (primary === undefined)
    warn('missing-setting', `${file} has no usable "colors.primary"; ${defaultPrimary} is used.`);
  const logo = lightDarkOf(config['logo']);
  const appearance = objectOf(config['appearance']);
  const styling = objectOf(config['styling']);
  const navbar = objectOf(config['navbar']);
  const primaryLink = objectOf(navbar['primary']);
  const primaryHref = href(primaryLink['href'], 'navbar.primary.href');
  const footer = objectOf(config['footer']);
  const banner = objectOf(config['banner']);
  const bannerContent = textOf(banner['content']);
  const seo = objectOf(config['seo']);
  readAnalytics(config['integrations'], (message) =>
    report({ severity: 'info', code: 'unused-integration', message, file }),
  );
  readPageMenu(config['contextual'], '', (message) =>
    report({ severity: 'info', code: 'setting-without-effect', message, file }),
  );
  const thumbnails = readThumbnails(
    config['thumbnails'],
    { appearance: textOf(appearance['default']), canonical: textOf(objectOf(seo['metatags'])['canonical']) },
    (message) => report({ severity: 'info', code: 'setting-without-effect', message, file }),
  );
  const notFound = objectOf(objectOf(config['errors'])['404']);

  const socials: Record<string, string> = {};
  for (const [network, address] of Object.entries(textRecordOf(footer['socials']))) {
    const safe = href(address, `footer.socials.${network}`);
    if (safe) socials[network] = safe;
  }
  const labelled = (item: JsonObject, field: string): { label: string; href: string }[] => {
    const address = href(item['href'], field);
    return address === undefined ? [] : [{ label: textOf(item['label']) ?? '', href: address }];
  };

  return jsonCopy<SiteSettings>({
    name,
    description: textOf(config['description']),
    theme: textOf(config['theme']) ?? 'mint',
    colors: {
      primary: primary ?? defaultPrimary,
      light: colorOf(colors['light']),
      dark: colorOf(colors['dark']),
    },
    logo: logo && { ...logo, href: href(objectOf(config['logo'])['href'], 'logo.href') },
    favicon: lightDarkOf(config['favicon']),
    appearance: {
      default: oneOf(appearance['default'], settingValues['appearance.default']),
      strict: appearance['strict'] === true,
    },
    iconLibrary: oneOf(objectOf(config['icons'])['library'], settingValues['icons.library']),
    background: config['background'],
    styling: {
      eyebrows: oneOf(styling['eyebrows'], settingValues['styling.eyebrows']),
      latex: typeof styling['latex'] === 'boolean' ? styling['latex'] : undefined,
      codeblocks: styling['codeblocks'],
    },
    navbar: {
      links: objectsOf(navbar['links']).flatMap((link) =>
        labelled(link, 'navbar.links.href').map((item) => ({
          ...item,
          label: item.label || networkName(link['type']),
          icon: iconOf(link),
          type: textOf(link['type']),
        })),
      ),
      primary:
        primaryHref === undefined
          ? undefined
          : {
              label: textOf(primaryLink['label']) ?? networkName(primaryLink['type']),
              href: primaryHref,
              type: textOf(primaryLink['type']),
            },
    },
    footer: {
      socials,
      links: objectsOf(footer['links']).map((column) => ({
        header: textOf(column['header']),
        items: objectsOf(column['items']).flatMap((item) => labelled(item, 'footer.links.items.href')),
      })),
    },
    banner:
      bannerContent === undefined
        ? undefined
        : {
            content: bannerContent,
            dismissible: banner['dismissible'] === true,
            type: textOf(banner['type']),
            color: lightDarkOf(banner['color']),
          },
    variables: readVariables(config['variables'], warn),
    seo: {
      indexing: oneOf(seo['indexing'], settingValues['seo.indexing']),
      metatags: textRecordOf(seo['metatags']),
      organization: seo['organization'],
    },
    searchPrompt: textOf(objectOf(config['search'])['prompt']),
    notFound: {
      redirect: notFound['redirect'] !== false,
      title: textOf(notFound['title']),
      description: textOf(notFound['description']),
    },
    timestamp: objectOf(config['metadata'])['timestamp'] === true,
    contextual: config['contextual'],
    thumbnails,
    drilldown: objectOf(config['interaction'])['drilldown'] === true ? true : undefined,
    api: config['api'],
    integrations: config['integrations'],
    markdownInstructions: listOf(objectOf(config['markdown'])['instructions']).flatMap((item) => textsOf(item)),
  });
}

/** A text that is one of the allowed ones, or the first of these. Others are reported with all values that do not fit. */
function oneOf<T extends string>(value: JsonValue | undefined, allowed: readonly [T, ...T[]]): T {
  const text = textOf(value);
  return allowed.find((item) => item === text) ?? allowed[0];
}

const colorForm = new RegExp(colourPattern);

function colorOf(value: JsonValue | undefined): string | undefined {
  const text = textOf(value);
  return text !== undefined && colorForm.test(text) ? text : undefined;
}

/** Reports the pictures of logo and favicon that are not among the files of the project. The renderer leaves them out. */
export function checkPictures(
  { logo, favicon }: Pick<SiteSettings, 'logo' | 'favicon'>,
  file: string,
  isFile: (path: string) => boolean,
  report: Report,
): void {
  for (const [name, pictures] of Object.entries({ logo, favicon })) {
    for (const written of new Set([pictures?.light, pictures?.dark])) {
      const address = written === undefined || isInlineImage(written) ? undefined : classifyUrl(written);
      if (address?.kind !== 'path' || fileOfSetting(address.path, isFile) !== undefined) continue;
      const message = `"${name}" names the file ${quoted(written ?? '')}, which is not in the project. Add it, or correct its path.`;
      report({ severity: 'warning', code: 'missing-file', message, file });
    }
  }
}

const networkNames: ReadonlyMap<string, string> = new Map([
  ['github', 'GitHub'],
  ['discord', 'Discord'],
]);

function networkName(type: JsonValue | undefined): string {
  return networkNames.get(textOf(type) ?? '') ?? '';
}

function readVariables(
  value: JsonValue | undefined,
  warn: (code: FindingCode, message: string) => void,
): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [name, text] of Object.entries(textRecordOf(value))) {
    if (/^[A-Za-z0-9_-]{1,100}$/.test(name)) variables[name] = text;
    else
      warn(
        'bad-setting',
        `The variable ${quoted(name)} is left out: names have at most 100 letters, digits, hyphens and underscores.`,
      );
  }
  return variables;
}
