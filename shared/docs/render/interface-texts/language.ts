import { ar } from './languages/ar.ts';
import { ca } from './languages/ca.ts';
import { cs } from './languages/cs.ts';
import { da } from './languages/da.ts';
import { de } from './languages/de.ts';
import { en } from './languages/en.ts';
import { es } from './languages/es.ts';
import { fi } from './languages/fi.ts';
import { fr } from './languages/fr.ts';
import { he } from './languages/he.ts';
import { hi } from './languages/hi.ts';
import { hu } from './languages/hu.ts';
import { id } from './languages/id.ts';
import type { InterfaceTexts } from './interface-texts.ts';
import { it } from './languages/it.ts';
import { ja } from './languages/ja.ts';
import { ko } from './languages/ko.ts';
import { lv } from './languages/lv.ts';
import { nl } from './languages/nl.ts';
import { no } from './languages/no.ts';
import { pl } from './languages/pl.ts';
import { ptBr } from './languages/pt-br.ts';
import { pt } from './languages/pt.ts';
import { ro } from './languages/ro.ts';
import { ru } from './languages/ru.ts';
import { sv } from './languages/sv.ts';
import { tr } from './languages/tr.ts';
import { uk } from './languages/uk.ts';
import { uz } from './languages/uz.ts';
import { vi } from './languages/vi.ts';
import { zhHant } from './languages/zh-hant.ts';
import { zh } from './languages/zh.ts';

/** The language of a page, as its frame needs it. */
export type Language = {
  /** Value of `lang`, a BCP 47 tag. */
  tag: string;
  direction: 'ltr' | 'rtl';
  texts: InterfaceTexts;
  /** File of the texts for scripts, `_bindery/texts/<name>.js`; undefined for English, which the scripts contain. */
  textsName: string | undefined;
};

/** Texts by the names of their files. */
const tables: ReadonlyMap<string, InterfaceTexts> = new Map(
  Object.entries({
    ...{
      ar,
      ca,
      cs,
      da,
      de,
      en,
      es,
      fi,
      fr,
      he,
      hi,
      hu,
      id,
      it,
      ja,
      ko,
      lv,
      nl,
      no,
      pl,
      pt,
      'pt-br': ptBr,
      ro,
      ru,
      sv,
    },
    ...{ tr, uk, uz, vi, zh, 'zh-hant': zhHant },
  }),
);

/** Codes without a table whose table cannot be found by dropping parts of the code. */
const sameTexts: ReadonlyMap<string, string> = new Map(
  Object.entries({ cn: 'zh', jp: 'ja', nb: 'no', nn: 'no', iw: 'he', 'zh-tw': 'zh-hant', 'zh-hk': 'zh-hant' }),
);

/** BCP 47 tags of codes that only the documentation format has. */
const properTags: ReadonlyMap<string, string> = new Map(Object.entries({ cn: 'zh-CN', jp: 'ja' }));

const rightToLeft = /^(ar|fa|he|iw|ps|ur|yi)(-|$)/i;

/** Language of a code in `docs.json`. `fr-CA` has the texts of `fr`, an unknown language those of English. Undefined means English. */
export function languageOf(code: string | undefined): Language {
  if (code === undefined) return { tag: 'en', direction: 'ltr', texts: en, textsName: undefined };
  const name = tableName(code.toLowerCase());
  return {
    tag: properTags.get(code.toLowerCase()) ?? code,
    direction: rightToLeft.test(code) ? 'rtl' : 'ltr',
    texts: tables.get(name) ?? en,
    textsName: name === 'en' ? undefined : name,
  };
}

/** Drops the last part of the code until a table has the name. */
function tableName(code: string): string {
  const name = sameTexts.get(code) ?? code;
  if (tables.has(name)) return name;
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
