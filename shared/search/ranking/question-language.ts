/**
 * Stop words of languages in Latin script: the frequent words, and those that begin questions. A word may be in several lists. The language
 * of a text is the one with more of its words than any other. The English list is long, so that an English question never counts as another
 * language.
 */
const frequentWords: Readonly<Record<string, string>> = {
  en: `a about all also an and any are as at be been before between but by can cannot could did do does doesn done each every for from get give
    had has have how i if in into is it its just let like make me my need no not of off on once one only or our out over set should show so some
    tell than that the their them then there these they this to up use used uses using via want was way we were what when where which while who
    whose why will with without would you your`,
  de: `aber als am an auch auf aus bei beim bin bis das dass dem den der des die dies diese dieser dieses doch durch ein eine einem einen einer
    eines er es für gibt haben hat ich ihr im in ist kann kannst können man mein meine meinen mit muss müssen nach nicht noch nur ob oder ohne
    sein sich sie sind so soll über um und uns unter vom von vor warum was welche welcher welches wenn wer werden wie wieder wir wird wo womit
    würde zu zum zur zwischen`,
  fr: `afin ai alors au aucun aussi aux avant avec avez avoir c ce cela ces cet cette ceux chaque comme comment d dans de depuis des dois doit donc
    du elle elles en encore entre es est et être faire fait faut il ils j je l la le les leur lors ma mais même mes mon n ne nos notre nous on ou où
    par pas peut peux plus pour pourquoi puis qu quand que quel quelle quelles quels qui quoi s sa sans se ses si son sont sous sur toujours tous
    tout toutes très tu un une utiliser vos votre vous y`,
  es: `al algo antes aunque cada como cómo con cual cuál cuales cuáles cuando cuándo cuánto de debe debo del desde donde dónde dos el ella ellos en
    entre es ese eso esta está están este esto estos fue ha hacer hacia hago hasta hay la las le les lo los más me mi mis muy no nos o otra otro
    para pero poder por porque puede puedo qué que quién quiero se ser si sí sin sobre solo son su sus también tengo tiene tienen todo todos tu
    un una usar uso y ya yo`,
  pt: `ao aos as até cada com como da das de deve dela dele depois do dos é e ela ele em entre essa esse esta está este eu foi há isso isto já lhe
    mais mas meu meus minha muito na não nas nem no nos nossa nosso num o onde os ou para pela pelo podem pode posso por porque qual quais quando
    quanto que quem quero são se sem ser seu seus só sobre sua suas também tem tenho todos um uma usar você vocês`,
  it: `a ad al alla alle anche c che chi ci come con cosa così cui da dal dalla degli dei del della delle devo di dopo dove e è essere fare gli
    ha ho i il in io l la le lo loro ma mi mia mio nei nel nella non o ogni per perché però più posso prima può qual quale quali quando quanto
    quella quello questa questo qui quindi se senza si sia sono su sua sul sulla suo tra tutti un una uno uso`,
  nl: `aan al alle als bij dan dat de deze die dit doen door een en er gebruik gebruiken geen haar heb hebben heeft het hij hoe ik in is je jij kan
    kunnen maar me meer met mijn moet moeten na naar niet nog nu of om omdat onder ons onze ook op over te tot tussen uit van veel voor waar
    waarom wanneer wat we welk welke wij worden wordt zich zijn zo zonder zou`,
  sv: `alla än är att av blir de del den det där då efter ej eller en ett från får för gör ha har hos hur hör i inte ja jag kan kunna man med mellan
    men min mina mot måste någon när och om på ska skulle som till under upp ut utan vad var varför vara vi vid vilka vilken vilket vill`,
  da: `af alle at blev bliver da de den der det dette du efter eller en er et for fra før gør ha har have hvad hver hvilke hvilken hvis hvor hvordan
    hvorfor hvornår i ikke ind jeg kan kunne man med mellem men mig min mit mod må noget når og også om op på sig skal skulle som til ud uden
    var ved vi vil`,
  no: `alle at av bli blir bruke da de den der det dette du eller en er et etter for fra før gjør ha har hva hver hvilke hvilken hvis hvor hvordan
    hvorfor i ikke inn jeg kan kunne man med mellom men meg min mitt mot må noe når og også om opp på seg skal skulle som til ut uten var ved vi
    vil`,
  pl: `aby albo ale być bez chcę co czy dla do gdy gdzie ich i inne ja jak jaka jakie jako jaki jest jestem już każdy kiedy kto które który którzy
    lub ma mam mogę może można mój na nad nie nowy o od oraz po pod przed przez przy się są tak tego ten to tym tylko ty użyć w we więc wszystkie z
    za ze że`,
  cs: `aby ale ani bez být co do jak jaká jaké jaký jako je jejich jeho jestli již jsem jsou k kam kde kdo kdy který která které mám mi mít mohu
    může můj musím na nad ne nebo není o od po pod podle pro proč před při s se si tak také tam to tohle u už v ve více však z za že`,
  tr: `ama ancak bana ben bir biz bu bunu çok da daha de değil eğer en gibi hangi her için ile ise kadar ki kim mı mi mu mü nasıl ne neden nedir
    nerede olan olarak olur onu sonra şu üzerinde ve veya ya yapabilirim yapılır yok`,
  fi: `ei ehkä en että hän ja jos joka kanssa kuin kuinka kun me mikä minkä millä missä miten miksi mitä mutta myös niin nyt olen oli on onko ovat
    saa sen se siellä tai tämä tämän tässä voi voin voiko voidaan`,
  id: `ada agar apa apakah atau bagaimana bisa cara dalam dan dapat dari dengan di dua harus ini itu juga ke kita mana mengapa menggunakan oleh pada
    saat sangat saya sebagai sebuah secara sudah tanpa tentang tetapi tidak untuk yang`,
  vi: `bằng bị các cái cách cái cần cho có của đã đang để đến được gì hay khi không là làm lại mà một này nào như những nhưng ở phải ra sao sẽ
    sử tại tôi thể thế theo thì trên trong từ và về vì với`,
};

/** The frequent words of a language, separated by spaces; empty for languages that are recognized by their script. */
export const frequentWordsOf = (language: string): string => frequentWords[language] ?? '';

/** The languages of each frequent word. */
const languagesOf = new Map<string, string[]>();
for (const [language, list] of Object.entries(frequentWords)) {
  for (const word of new Set(list.split(/\s+/))) languagesOf.set(word, [...(languagesOf.get(word) ?? []), language]);
}

/** Scripts that identify a language, at least nearly, with their average number of characters per word. */
const scripts: readonly [script: RegExp, language: string, charactersOfWord: number][] = [
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/gu, 'ja', 2],
  [/\p{Script=Hangul}/gu, 'ko', 2],
  [/\p{Script=Han}/gu, 'zh', 2],
  [/\p{Script=Thai}/gu, 'th', 4],
  [/\p{Script=Cyrillic}/gu, 'ru', 4],
  [/\p{Script=Greek}/gu, 'el', 4],
  [/\p{Script=Arabic}/gu, 'ar', 4],
  [/\p{Script=Hebrew}/gu, 'he', 4],
  [/\p{Script=Devanagari}/gu, 'hi', 4],
];

const mostCharacters = 2_000;
const leastWords = 2;

/**
 * The language of a text, by its script and its frequent words, as an ISO 639-1 code; undefined if it is not clear, as for few words, names
 * and code. Text in backticks does not count. Pure.
 */
export function languageOfText(text: string): string | undefined {
  const shown = text
    .slice(0, mostCharacters)
    .replaceAll(/```[\s\S]*?(?:```|$)|`[^`\n]*`/g, ' ')
    .normalize('NFC')
    .toLowerCase();
  const scores = new Map<string, number>();
  const add = (language: string, score: number): void => void scores.set(language, (scores.get(language) ?? 0) + score);
  for (const word of new Set(shown.match(/\p{L}+/gu) ?? [])) {
    for (const language of languagesOf.get(word) ?? []) add(language, 1);
  }
  for (const [script, language, charactersOfWord] of scripts) {
    const count = shown.match(script)?.length ?? 0;
    if (count > 0) add(language, count / charactersOfWord);
  }
  // Japanese contains Chinese characters, too, and Ukrainian has letters that Russian lacks.
  if ((scores.get('ja') ?? 0) > 0) add('ja', takeScore(scores, 'zh'));
  if (/[іїєґ]/.test(shown)) add('uk', takeScore(scores, 'ru'));
  const [first, second] = [...scores].sort(([, a], [, b]) => b - a);
  if (first === undefined || first[1] < leastWords || first[1] - (second?.[1] ?? 0) < 1) return undefined;
  return first[0];
}

function takeScore(scores: Map<string, number>, language: string): number {
  const score = scores.get(language) ?? 0;
  scores.delete(language);
  return score;
}
