import { readFileSync } from 'node:fs';
import type { InterfaceTexts } from './interface-texts.ts';

/** The language of a page, as its frame needs it. */
export type Language = {
  /** Value of `lang`, a BCP 47 tag. */
  tag: string;
  direction: 'ltr' | 'rtl';
  texts: InterfaceTexts;
  /** File of the texts for scripts, `_bindery/texts/<name>.js`; undefined for English, which the scripts contain. */
  textsName: string | undefined;
};

/** Names of the files in `languages`. Each has all texts in one language. */
export const tableNames: ReadonlySet<string> = new Set(
  `ar ca cs da de en es fi fr he hi hu id it ja ko lv nl no pl pt pt-br ro ru sv tr uk uz vi zh zh-hant`.split(' '),
);
const tables = new Map<string, InterfaceTexts>();

/** Reads a table when a site first asks for it, because most sites have one language. */
export function tableNamed(name: string): InterfaceTexts {
  const known = tables.get(name);
  if (known !== undefined) return known;
  const table = JSON.parse(readFileSync(new URL(`languages/${name}.json`, import.meta.url), 'utf8')) as InterfaceTexts;
  tables.set(name, table);
  return table;
}

export const en = tableNamed('en');

/** Codes that have no table, and for which dropping parts of the code does not lead to the right table. */
export const sameTexts: ReadonlyMap<string, string> = new Map(
  Object.entries({ cn: 'zh', jp: 'ja', nb: 'no', nn: 'no', iw: 'he', 'zh-tw': 'zh-hant', 'zh-hk': 'zh-hant' }),
);

/** BCP 47 tags of codes that only the documentation format has. */
const properTags: ReadonlyMap<string, string> = new Map(Object.entries({ cn: 'zh-CN', jp: 'ja' }));

export const rightToLeft = /^(ar|fa|he|iw|ps|ur|yi)(-|$)/i;

/** Language of a code in `docs.json`. `fr-CA` has the texts of `fr`, an unknown language those of English. Undefined means English. */
export function languageOf(code: string | undefined): Language {
  if (code === undefined) return { tag: 'en', direction: 'ltr', texts: en, textsName: undefined };
  const name = tableName(code.toLowerCase());
  return {
    tag: properTags.get(code.toLowerCase()) ?? code,
    direction: rightToLeft.test(code) ? 'rtl' : 'ltr',
    texts: tableNamed(name),
    textsName: name === 'en' ? undefined : name,
  };
}

/** The name of the table for a code. The last part of the code is dropped until a table has the name. */
function tableName(code: string): string {
  const name = sameTexts.get(code) ?? code;
  if (tableNames.has(name)) return name;
  const end = name.lastIndexOf('-');
  return end < 0 ? 'en' : tableName(name.slice(0, end));
}

const names: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ar: 'العربية',
    ca: 'Català',
    cn: '简体中文',
    cs: 'Čeština',
    da: 'Dansk',
    de: 'Deutsch',
    en: 'English',
    es: 'Español',
    fi: 'Suomi',
    fr: 'Français',
    'fr-CA': 'Français (Canada)',
    he: 'עברית',
    hi: 'हिन्दी',
    hu: 'Magyar',
    id: 'Bahasa Indonesia',
    it: 'Italiano',
    ja: '日本語',
    'ja-JP': '日本語',
    jp: '日本語',
    ko: '한국어',
    lv: 'Latviešu',
    nl: 'Nederlands',
    no: 'Norsk',
    pl: 'Polski',
    pt: 'Português',
    'pt-BR': 'Português (Brasil)',
    ro: 'Română',
    ru: 'Русский',
    sv: 'Svenska',
    tr: 'Türkçe',
    uk: 'Українська',
    uz: 'Oʻzbekcha',
    vi: 'Tiếng Việt',
    zh: '简体中文',
    'zh-CN': '简体中文',
    'zh-Hans': '简体中文',
    'zh-Hant': '繁體中文',
    'zh-TW': '繁體中文',
  }),
);

/** The name of a language in that language; an unknown code is returned unchanged. */
export const languageName = (code: string): string => names.get(code) ?? code;
