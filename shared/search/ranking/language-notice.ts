import { languageOfText } from './question-language.ts';

/** Limit of found texts that are checked. The best ones decide the notice for the reader. */
const mostTexts = 5;

/** A notice for a question in another language than all found texts, as one or two sentences. */
export type LanguageNotice = {
  /** In English, for programs: HTTP headers have no other letters. */
  inEnglish: string;
  /** In the language of the question, where a sentence in it is known. */
  inOwn: string;
};

/**
 * The notice for a question and the texts that were found, with the language of their page if known; undefined if the languages are the same or not clear.
 * Pure.
 */
export function languageNotice(
  question: string,
  found: readonly { text: string; language?: string | undefined }[],
): LanguageNotice | undefined {
  const asked = languageOfText(question);
  if (asked === undefined) return undefined;
  const finds = 'Names, codes and identifiers are found in any language';
  const isIn = `The question seems to be in ${nameOf(asked, 'en')}`;
  if (found.length === 0) {
    const nothing = `${isIn}, and nothing was found. ${finds}.`;
    return asked === 'en' ? undefined : { inEnglish: nothing, inOwn: nothing };
  }
  const languages = new Set(
    found
      .slice(0, mostTexts)
      .flatMap(({ text, language }) => [languageOfText(text), baseOf(language)])
      .filter((one) => one !== undefined),
  );
  if (languages.size === 0 || languages.has(asked)) return undefined;
  const theirs = [...languages].sort();
  const names = theirs.map((one) => nameOf(one, 'en'));
  const inEnglish = `${isIn}, and the passages that were found are in ${names.join(' and ')}. ${finds}; for other words, ask in ${names.join(' or ')}.`;
  return { inEnglish, inOwn: sentenceIn(asked, theirs) ?? inEnglish };
}

/**
 * Sentences by language: the found pages are in the language `{}`, and are not translated. The name of that language is in the
 * language of the sentence.
 */
const sentences: Readonly<Record<string, string>> = {
  de: 'Die gefundenen Seiten sind auf {} und werden nicht übersetzt.',
  fr: 'Les pages trouvées sont en {} et ne sont pas traduites.',
  es: 'Las páginas encontradas están en {} y no se traducen.',
  pt: 'As páginas encontradas estão em {} e não são traduzidas.',
  it: 'Le pagine trovate sono in {} e non vengono tradotte.',
  nl: 'De gevonden pagina’s zijn in het {} en worden niet vertaald.',
  sv: 'De hittade sidorna är på {} och översätts inte.',
  da: 'De fundne sider er på {} og oversættes ikke.',
  no: 'Sidene som ble funnet, er på {} og oversettes ikke.',
  pl: 'Język znalezionych stron: {}. Nie są tłumaczone.',
  cs: 'Jazyk nalezených stránek: {}. Nepřekládají se.',
  tr: 'Bulunan sayfaların dili: {}. Çevrilmezler.',
  fi: 'Löydettyjen sivujen kieli: {}. Niitä ei käännetä.',
  id: 'Halaman yang ditemukan berbahasa {} dan tidak diterjemahkan.',
  vi: 'Ngôn ngữ của các trang tìm thấy: {}. Chúng không được dịch.',
  ja: '見つかったページは{}で書かれており、翻訳されません。',
  ko: '찾은 페이지의 언어: {}. 번역되지 않습니다.',
  zh: '找到的页面为{}，未经翻译。',
  th: 'หน้าที่พบเป็นภาษา{} และไม่ได้แปล',
  ru: 'Язык найденных страниц: {}. Они не переводятся.',
  uk: 'Мова знайдених сторінок: {}. Вони не перекладаються.',
  el: 'Γλώσσα των σελίδων που βρέθηκαν: {}. Δεν μεταφράζονται.',
  ar: 'لغة الصفحات التي عُثر عليها: {}. وهي غير مترجمة.',
  he: 'שפת הדפים שנמצאו: {}. הם אינם מתורגמים.',
  hi: 'मिले हुए पृष्ठों की भाषा: {}। उनका अनुवाद नहीं होता।',
};

function sentenceIn(asked: string, theirs: readonly string[]): string | undefined {
  const names = new Intl.ListFormat(asked).format(theirs.map((one) => nameOf(one, asked)));
  return sentences[asked]?.replace('{}', () => names);
}

/**
 * The language without its region: `pt-BR` is Portuguese. `cn` and `jp` are country codes that some sites use. Undefined for other names
 * that sites give to languages.
 */
function baseOf(language: string | undefined): string | undefined {
  const base = language?.toLowerCase().split(/[-_]/)[0] ?? '';
  if (!/^[a-z]{2,3}$/.test(base)) return undefined;
  return base === 'cn' ? 'zh' : base === 'jp' ? 'ja' : base;
}

function nameOf(language: string, inLanguage: string): string {
  try {
    return new Intl.DisplayNames([inLanguage], { type: 'language', fallback: 'code' }).of(language) ?? language;
  } catch {
    return language;
  }
}
