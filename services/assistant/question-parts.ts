import type { Turn } from '#shared/aggregates/thread/thread.ts';
import { subjectTerms } from '#shared/search/ranking/analyze-text.ts';
import { retrievalQuery } from './retrieval-query.ts';

/**
 * A question divided into parts that can be answered one after the other. `parts` has the whole question alone if it is one question. `isCertain`:
 * false if the parts share one verb or one list, so that they may be one topic (`add a filter and sort the results`).
 */
export type QuestionParts = { parts: readonly string[]; isCertain: boolean };

/** Limit of parts that are answered. `questionParts` returns all of them. */
export const mostParts = 5;
/** A longer text has a log or code in it, whose sentences are not questions. */
const mostCharacters = 1_000;

/**
 * Divides a question at the marks of several questions: items of a list, question marks, conjunctions before a new question (`…, and how do I check
 * it?`), verbs that share a beginning (`How do I install the CLI and create a database?`), and enumerated names (`What are bundles and segments?`).
 * A conjunction inside one question does not divide it (`drag and drop`, `filter and sort by date`). Pure.
 */
export function questionParts(question: string): QuestionParts {
  const whole = question.trim();
  if (whole.length > mostCharacters || whole.includes('```')) return { parts: [whole], isCertain: true };
  const sentences = listItems(whole) ?? withContext(sentencesOf(whole));
  const clauses = sentences.flatMap(clausesOf);
  const divided = clauses.flatMap((clause) => tasksOf(clause) ?? namesOf(clause) ?? [clause]);
  const parts = divided.map(withoutConjunction).filter((part) => subjectTerms(part).length > 0);
  if (parts.length < 2) return { parts: [whole], isCertain: true };
  return { parts, isCertain: clauses.length > 1 };
}

/** The items of a list in a message, with the words before it in each item if these are its beginning; undefined if there is no list. */
function listItems(text: string): string[] | undefined {
  const marks = /(?:^|\n)[ \t]*(?:[-*•]|\d{1,2}[.)]|[a-h]\))[ \t]+/g;
  const inLine = /(?:^|\s)\(?(\d)[.)]\s+/g;
  for (const pattern of [marks, inLine]) {
    const found = [...text.matchAll(pattern)];
    const isCounted = pattern === marks || found.every(([, number], at) => Number(number) === at + 1);
    if (found.length < 2 || !isCounted) continue;
    const before = text.slice(0, found[0]?.index).trim();
    const items = found.map(({ index, 0: mark }, at) => text.slice(index + mark.length, found[at + 1]?.index).trim());
    const beginning = /[.!?]$/.test(before) || items.some(isQuestion) ? '' : before.replace(/\s*:$/, '');
    return items.filter((item) => item !== '').map((item) => `${beginning} ${item}`.trim());
  }
  return undefined;
}

/** Sentences end at a question mark, or at a full stop or line end before a capital letter. */
const sentencesOf = (text: string): string[] =>
  text.split(/(?<=[?？])\s*(?=\S)|(?<=(?<!\b(?:e\.g|i\.e|etc|vs|no|approx))[.!])\s+(?=\p{Lu})|\s*\n\s*(?=\p{Lu})/u);

/** Adds statements to the question after them, or to the last question. */
function withContext(sentences: readonly string[]): string[] {
  const questions: string[] = [];
  let context: string[] = [];
  for (const sentence of sentences) {
    context.push(sentence);
    if (!isQuestion(sentence)) continue;
    questions.push(context.join(' '));
    context = [];
  }
  const last = questions.pop();
  return [...questions, [...(last === undefined ? [] : [last]), ...context].join(' ')];
}

const asks = String.raw`(?:how|what|what's|where|where's|when|why|which|who|whose|who's|is there|are there)`;
const auxiliary = String.raw`(?:can|could|do|does|did|is|are|was|should|must|may|might|will|would|has|have)`;
const subject = String.raw`(?:i|we|you|it|they|he|she|there|this|that|these|those|the|a|an|my|our|its|your|one|anyone|anybody|users?|someone)`;
const opens = String.raw`(?:please|explain|describe|define|tell me|show me|list|i'd like to know|i (?:want|need) to know|can you|could you)`;
const isQuestionStart = new RegExp(
  String.raw`^\W*(?:(?:and|but|so|also|then)\s+)?(?:${asks}|${auxiliary}\s+${subject}|${opens})\b`,
  'iu',
);
/** How questions of other languages begin. */
const foreignStart =
  /^\W*(?:wie|was|wo|wann|warum|wer|welche[rsnm]?|kann|gibt es|comment|que|quoi|où|quand|pourquoi|quel(?:le)?s?|qui|est-ce|qu'est|cómo|como|qué|dónde|cuándo|por qué|cuál(?:es)?|o que|onde|quando|por que|qual|quais|come|cosa|dove|perché|quale|hoe|wat|waar|wanneer|waarom|welke|hur|vad|när|varför|vilken|hvordan|hvad|hvor|hvornår|hvorfor)(?![\p{L}])/iu;

function isQuestion(sentence: string): boolean {
  return /[?？]\s*$/.test(sentence) || isQuestionStart.test(sentence) || foreignStart.test(sentence);
}

const conjunction = String.raw`(?:and also|and then|as well as|and|but|then|also|plus|und|et|y|e|en|og|och)`;
/** A place at which a new question may begin: a conjunction, a comma or both. */
const joints = new RegExp(String.raw`\s*[,;]\s*(?:${conjunction}\s+)?|\s+${conjunction}\s+`, 'giu');
/** Words after which a conjunction or a comma continues the clause: `how and when`, `how many and how long`. */
const isOpenEnd = /\b(?:how|what|where|when|why|which|who|whose|how (?:many|much|long|often)|if|whether|both|either)$/i;
/** A clause that depends on the one after it: `If I export, what happens?` */
const isCondition =
  /^\W*(?:if|when|while|after|before|because|since|as|for|in|on|with|without|once|unless|although|given|assuming|depending|instead)\b(?!.*\?)/i;
const afterComma = new RegExp(
  String.raw`^(?:how|why|what|what's|is there|are there|${auxiliary}\s+(?:i|we|you|it|they))\b`,
  'i',
);
const afterConjunction = new RegExp(
  String.raw`^(?:(?:also|then|please|if so,?|if not,?)\s+)*(?:(?:how|what|what's|why|which|is there|are there)\b|(?:where|when|who|whose)\s+${auxiliary}\b|(?:where|when|who)'s\b|${auxiliary}\s+${subject}\b)`,
  'i',
);
const isIndirect = new RegExp(String.raw`^\W*${opens}\b`, 'i');

/** The questions that conjunctions and commas join in one sentence. */
function clausesOf(sentence: string): string[] {
  const clauses: string[] = [];
  let from = 0;
  for (const { index, 0: joint } of sentence.matchAll(joints)) {
    if (index < from) continue;
    const left = sentence.slice(from, index);
    const right = sentence.slice(index + joint.length);
    const hasConjunction = /\p{L}/u.test(joint);
    const begins =
      (hasConjunction ? afterConjunction : afterComma).test(right) ||
      (hasConjunction && foreignStart.test(right) && foreignStart.test(left)) ||
      (hasConjunction && isIndirect.test(left) && /^where\b/i.test(right));
    const isWhole =
      isQuestion(left) && !isOpenEnd.test(left) && !isCondition.test(left) && subjectTerms(left).length > 0;
    if (!begins || !isWhole || subjectTerms(nextClause(right)).length === 0) continue;
    clauses.push(left);
    from = index + joint.length;
  }
  return [...clauses, sentence.slice(from)];
}

/** The text up to the next place at which another question begins. */
function nextClause(text: string): string {
  for (const { index, 0: joint } of text.matchAll(joints))
    if (afterConjunction.test(text.slice(index + joint.length))) return text.slice(0, index);
  return text;
}

const lead =
  /^(?:\W*(?:how (?:do|can|should|would|could|to|must)(?: (?:i|we|you|one))?(?: best)?|(?:can|could|may|should) (?:i|we|you)(?: please)?|(?:i|we)(?:'d| would)? (?:want|need|like|have|wish|am trying|are trying) to|is it possible to|where (?:do|can|should) (?:i|we)|help me(?: to)?|steps to|what is the (?:best |right )?way to|please)\s+)/i;

/** Verbs of tasks in documentation. A name may be spelled like those of the second list, so they count only before a determiner or a pronoun. */
const verbs = new Set(
  `add create delete remove drop install configure enable disable give make use write read define choose connect migrate embed encrypt decrypt verify
  check validate invite revoke rotate generate customize translate restore replace rename move activate deactivate translate authenticate authorize
  assign attach detach upload download open close send receive get see find turn switch prevent avoid fix debug integrate register subscribe
  schedule cancel retry resume pause monitor track measure protect hide share push pull merge keep put bring implement provide specify apply`.split(
    /\s+/,
  ),
);
const nounsAsWell = new Set(
  `set run deploy publish build test index search query filter sort export import update upgrade backup back start stop restart change edit host limit
  access log sign view display show format style theme link list order group copy fork clone branch cache scale sync stream render load store save
  reset transfer map label tag name report audit block allow restrict serve preview roll require reference document call trigger handle process`.split(
    /\s+/,
  ),
);
const determiner =
  /^(?:a|an|the|my|our|your|its|their|his|her|this|that|these|those|it|them|one|some|all|each|every|another|up|out|back|off|on|down|in)\b/i;

/** The tasks that share one beginning; undefined if there is only one. */
function tasksOf(clause: string): string[] | undefined {
  const beginning = lead.exec(clause)?.[0] ?? '';
  const rest = clause.slice(beginning.length);
  if (beginning === '' && verbIn(rest) === undefined) return undefined;
  const tasks: string[] = [];
  let from = 0;
  for (const { index, 0: joint } of rest.matchAll(
    /\s*,\s*(?:(?:and|then|and then)\s+)?|\s+and(?: then| also)?\s+|\s+then\s+/gi,
  )) {
    if (index < from) continue;
    const [left, right] = [rest.slice(from, index), rest.slice(index + joint.length)];
    if (!isTask(right) || !hasObject(left) || endsWithVerb(left)) continue;
    tasks.push(left);
    from = index + joint.length;
  }
  if (tasks.length === 0) return undefined;
  tasks.push(rest.slice(from));
  const mark = /[?？]\s*$/.test(clause) ? '?' : '';
  return tasks.map((task) => `${beginning}${task.replace(/[\s?？.]+$/, '')}${mark}`);
}

function verbIn(text: string): string | undefined {
  const word = /^\W*(?:to\s+|then\s+|also\s+)?([a-z]+)\b/i.exec(text)?.[1]?.toLowerCase();
  return word !== undefined && (verbs.has(word) || nounsAsWell.has(word)) ? word : undefined;
}

function isTask(text: string): boolean {
  const verb = verbIn(text);
  if (verb === undefined) return false;
  const after = text.slice(text.toLowerCase().indexOf(verb) + verb.length).trim();
  const object = after.split(/\s*,\s*|\s+and\s+/i)[0] ?? '';
  if (subjectTerms(object).length === 0 && !/^(?:it|them|one|this|that)\b/i.test(object)) return false;
  return verbs.has(verb) || determiner.test(after);
}

/** True if the text has more than its verb: a subject, or a pronoun for one. */
const hasObject = (text: string): boolean =>
  subjectTerms(text.replace(/^\W*(?:to\s+)?[a-z]+\s*/i, '')).length > 0 ||
  /\b(?:it|them|one|this|that)$/i.test(text.trim());

const endsWithVerb = (text: string): boolean => {
  const last = /([a-z]+)\W*$/i.exec(text)?.[1]?.toLowerCase() ?? '';
  return (
    verbs.has(last) ||
    /\bto [a-z]+\W*$/i.test(text) ||
    (nounsAsWell.has(last) && /\b(?:let|and|help|make) \w+ \w+$|\bto \w+$/i.test(text))
  );
};

const nameLead =
  /^(\W*(?:please )?(?:explain|describe|define|tell me (?:more )?about|what(?:'s| is| are)|who (?:is|are)|what does))\s+/i;
const comparing =
  /\b(?:difference|differences|between|versus|vs|relation|relationship|compared|better|pros|advantages?)\b/i;
const preposition = /\b(?:of|for|in|on|to|from|with|by|about|that|which|who|when|at|into|per)\b/i;
const mostNameWords = 6;

/** The names that a question enumerates, each with the beginning of the question; undefined if there is only one. */
function namesOf(clause: string): string[] | undefined {
  const beginning = nameLead.exec(clause)?.[0];
  if (beginning === undefined || comparing.test(clause)) return undefined;
  const mark = /[?？]\s*$/.test(clause) ? '?' : '';
  const names = clause
    .slice(beginning.length)
    .replace(/[\s?？.!]+$/, '')
    .split(/\s*,\s*(?:(?:and|or)\s+)?|\s+(?:and|or)\s+/i);
  const isList = names.length > 2;
  const [first = '', ...others] = names;
  if (names.length < 2 || preposition.test(first)) return undefined;
  // The words after the last name belong to both names: "the name and address of a server".
  if (!isList && /^the\b/i.test(first) && preposition.test(others.at(-1) ?? '')) return undefined;
  const isName = (name: string): boolean => subjectTerms(name).length > 0 && name.split(/\s+/).length <= mostNameWords;
  return names.every(isName) ? names.map((name) => `${beginning}${name}${mark}`) : undefined;
}

const withoutConjunction = (part: string): string =>
  part
    .trim()
    .replace(new RegExp(String.raw`^(?:(?:${conjunction}|if so|if not)\b[\s,]*)+(?=\S)`, 'iu'), '')
    .replace(/[\s,;]+$/, '');

/**
 * The search query for one part: the part, and the subject of an earlier part that it refers to (`How do I check it?`). The first part may refer to earlier
 * questions of the conversation, and a part that follows such a part refers to them, too. Pure.
 */
export function partQuery(parts: readonly string[], at: number, earlier: readonly Turn[]): string {
  const part = parts[at] ?? '';
  if (at === 0) return retrievalQuery([...earlier, { role: 'user', text: part }]);
  if (!refersBack(part)) return part;
  // "And with Rust?" asks the question before it again, with other words after the preposition.
  const instead = new RegExp(String.raw`^(?:(?:what|how) about\s+)?(${preposition.source})?`, 'i').exec(part);
  if (instead?.[0] !== '' && instead?.[0] !== undefined) {
    const asked =
      (parts[at - 1] ?? '').split(new RegExp(String.raw`\s${instead[1] ?? preposition.source}`, 'i'))[0] ?? '';
    return `${part}\n${asked}`;
  }
  for (let before = at - 1; before >= 0; before -= 1) {
    const subject = subjectOf(parts[before] ?? '');
    if (!pronouns.test(parts[before] ?? '') && subject !== '') return `${part}\n${subject}`;
  }
  return `${part}\n${partQuery(parts, 0, earlier)}`;
}

const pronouns =
  /\b(?:it|its|they|them|their|theirs|these|those|this|ones?|instead|same)\b|\bthat\b(?=\s*(?:[?.!,]|$)|\s+(?:one|work|cost|happen))/i;
const refersBack = (part: string): boolean => pronouns.test(part) || subjectTerms(part).length < 2;

/** The subject of a question: `How do I install the CLI on macOS?` → `the CLI`. */
function subjectOf(part: string): string {
  const asked = part
    .replace(/^\W*(?:please\s+)?/i, '')
    .replace(lead, '')
    .replace(nameLead, '')
    .replace(questionWords, '');
  const verb = verbIn(asked);
  const object = verb === undefined ? asked : asked.slice(asked.toLowerCase().indexOf(verb) + verb.length);
  const short = object.split(new RegExp(String.raw`(?<=\w)\s+${preposition.source}`, 'i'))[0] ?? '';
  return (subjectTerms(short).length > 0 ? short : object).replace(/[\s?？.!]+$/, '').trim();
}

const questionWords = new RegExp(
  String.raw`^(?:(?:${asks}|which of|how (?:many|much|long|often))\b\s*)*(?:${auxiliary}\s+)?(?:(?:i|we|you)\s+)?`,
  'i',
);
