import { z } from 'zod';
import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import { binderyCommand } from '#shared/runtime/command-words.ts';
import { isPackaged } from '#shared/runtime/installed-packages.ts';
import type { Refused, Visit } from '../page.ts';
import { icon } from './icon.ts';

/** Small parts of pages. Each escapes its words. */

const units: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** `3 hours ago`. Pure. */
export function relativeTime(iso: string, now: Date): string {
  const seconds = (Date.parse(iso) - now.getTime()) / 1_000;
  for (const [unit, size] of units)
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  return Math.abs(seconds) < 5 ? 'just now' : relative.format(Math.trunc(seconds), 'second');
}

/** The exact time as words, for records. */
export const exactly = (iso: string): SafeHtml =>
  html`<time datetime="${iso}" data-exact>${iso.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC')}</time>`;

/** A time as people say it, with the exact one (UTC) on hover and for programs. */
export const time = (iso: string, now: Date): SafeHtml =>
  html`<time datetime="${iso}" title="${iso.replace('T', ' ').replace(/\.\d+Z$/, ' UTC')}">${relativeTime(iso, now)}</time>`;

/** `4.2 s`, `0.4 s`, `35 ms`, `3 min 5 s`: times of one column compare at a glance. Pure. */
export function duration(ms: number): string {
  if (ms < 100) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

const number = new Intl.NumberFormat('en');
export const count = (value: number): string => number.format(value);

/** `3 pages`, `1 page`. Pure. */
export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

/** `434 MB`. Pure. */
export function bytes(size: number): string {
  const steps = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  let at = 0;
  let value = size;
  for (; value >= 1_000 && at < steps.length - 1; at += 1) value /= 1_000;
  return `${at === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${steps[at]}`;
}

/** An identifier, shortened in the middle, that is copied on a click. */
export const id = (text: string): SafeHtml =>
  html`<span class="id"><code title="${text}">${text.length > 18 ? `${text.slice(0, 9)}…${text.slice(-5)}` : text}</code>${copyButton(text)}</span>`;

export const copyButton = (text: string, label = 'Copy'): SafeHtml =>
  html`<button type="button" class="copy" data-copy="${text}" aria-label="${label}" hidden>${icon('copy')}</button>`;

export type Tone = 'good' | 'bad' | 'busy' | 'idle' | 'warn';

const shapes: Readonly<Record<Tone, string>> = {
  good: 'circle-check',
  bad: 'circle-x',
  busy: 'loader-circle',
  idle: 'circle-dashed',
  warn: 'triangle-alert',
};

/** A state as a word and a shape, so that colour alone says nothing. */
export const state = (tone: Tone, word: string): SafeHtml =>
  html`<span class="state ${tone}">${icon(shapes[tone])}${word}</span>`;

/** The state of an export or deployment. Pure. */
export function toneOf(status: string): Tone {
  if (status === 'completed' || status === 'live') return 'good';
  if (status === 'failed') return 'bad';
  return status === 'superseded' || status === 'ended' ? 'idle' : 'busy';
}

export type Column<T> = {
  title: string;
  /** Right-aligned with tabular figures. */
  isNumber?: true;
  /** Address that sorts by this column. */
  sort?: { to: string; is?: 'ascending' | 'descending' };
  cell: (row: T) => SafeHtml | string | undefined;
};

/** A table whose first column is what one came for. `caption` is read by screen readers. `idOf` names the rows that live pages replace. */
export const table = <T>(
  caption: string,
  columns: readonly Column<T>[],
  rows: readonly T[],
  idOf?: (row: T) => string,
): SafeHtml =>
  html`<div class="wide" role="group" aria-label="${caption}" tabindex="0"><table><caption class="unseen">${caption}</caption>
<thead><tr>${columns.map(
    ({ title, isNumber, sort }) =>
      html`<th scope="col"${attribute('class', isNumber && 'number')}${attribute('aria-sort', sort?.is)}>${sort === undefined ? title : html`<a href="${sort.to}">${title}</a>`}</th>`,
  )}</tr></thead>
<tbody>${rows.map((row) => tableRow(columns, row, idOf))}</tbody></table></div>`;

export const tableRow = <T>(columns: readonly Column<T>[], row: T, idOf?: (row: T) => string): SafeHtml =>
  html`<tr${attribute('id', idOf?.(row))}>${columns.map(({ cell, isNumber }, at) =>
    at === 0
      ? html`<th scope="row">${cell(row)}</th>`
      : html`<td${attribute('class', isNumber && 'number')}>${cell(row)}</td>`,
  )}</tr>\n`;

/** ` name="value"`, or nothing. */
export const attribute = (name: string, value: string | false | undefined): SafeHtml =>
  value === undefined || value === false ? html`` : html` ${name}="${value}"`;

/** The text in place of an empty list: the reason, and the command that fills it. */
export const empty = (title: string, advice: SafeHtml | string): SafeHtml =>
  html`<div class="empty"><p class="empty-title">${title}</p><div>${advice}</div></div>`;

/** A command for a terminal, with a button that copies it. */
export function command(text: string): SafeHtml {
  const typed = isPackaged ? text.replace(/^npm run bindery --/, binderyCommand) : text;
  return html`<div class="command"><pre tabindex="0"><code>${typed}</code></pre>${copyButton(typed, 'Copy the command')}</div>`;
}

/** The heading of a part of a page, with a link to the page that has the whole list. */
export const sectionHead = (name: string, title: string, to?: readonly [address: string, words: string]): SafeHtml =>
  html`<div class="section-head"><h2 id="${name}">${title}</h2>${to === undefined ? '' : html`<a href="${to[0]}">${to[1]}</a>`}</div>`;

/** A button that prints the page. */
export const printButton = html`<button type="button" class="button" data-print hidden>${icon('printer')}Print</button>`;

/** The head of a page: heading, words beside it, and the one primary action. */
export const pageHead = (
  title: SafeHtml | string,
  about: SafeHtml | string = '',
  action: SafeHtml | string = '',
): SafeHtml =>
  html`<header class="page-head"><div><h1>${title}</h1>${about === '' ? '' : html`<p class="about">${about}</p>`}</div>${action === '' ? '' : html`<div class="actions">${action}</div>`}</header>`;

/** The sentence of the platform about a form that it refused, with the fields that it names. */
export const refusalOf = ({ refused }: Pick<Visit, 'refused'>): SafeHtml =>
  refused === undefined
    ? html``
    : html`<div class="notice bad" role="alert">${icon('circle-x')}<div><p>${refused.refusal.message}</p>${
        refused.refusal.fields.length === 0
          ? ''
          : html`<ul>${refused.refusal.fields.map(({ path, message }) => html`<li><code>${path}</code> ${message}</li>`)}</ul>`
      }${refused.refusal.requestId === undefined ? '' : html`<p class="quiet">Request ${refused.refusal.requestId}</p>`}</div></div>`;

type FieldOptions = {
  label: string;
  about?: SafeHtml | string;
  value?: string;
  type?: 'text' | 'number' | 'password' | 'date' | 'search' | 'url';
  required?: boolean;
  placeholder?: string;
  /** Id of a `datalist` with suggestions. */
  list?: string;
};

/** A labelled text field. After a refusal it has the typed text. */
export const textField = (
  name: string,
  { label, about, value = '', type = 'text', required, placeholder, list }: FieldOptions,
  refused?: Refused,
): SafeHtml =>
  html`<div class="field"><label for="f-${name}">${label}</label><input id="f-${name}" name="${name}" type="${type}" value="${
    type === 'password' ? '' : (refused?.fields[name] ?? value)
  }"${attribute('placeholder', placeholder)}${attribute('list', list)}${required ? html` required` : ''} autocomplete="off"${attribute('aria-describedby', about !== undefined && `a-${name}`)}>${
    about === undefined ? '' : html`<p class="about" id="a-${name}">${about}</p>`
  }</div>`;

/** The schema of a text field that holds a list, as its parts without spaces around them. */
export const listed = (separator: RegExp) =>
  z
    .string()
    .default('')
    .transform((text) => text.split(separator).flatMap((part) => part.trim() || []));

export const choiceField = (
  name: string,
  {
    label,
    about,
    choices,
    value,
  }: {
    label: string;
    about?: SafeHtml | string;
    choices: readonly (readonly [value: string, label: string])[];
    value?: string;
  },
  refused?: Refused,
): SafeHtml => {
  const chosen = refused?.fields[name] ?? value;
  return html`<div class="field"><label for="f-${name}">${label}</label><select id="f-${name}" name="${name}"${attribute('aria-describedby', about !== undefined && `a-${name}`)}>${choices.map(
    ([each, words]) => html`<option value="${each}"${each === chosen ? html` selected` : ''}>${words}</option>`,
  )}</select>${about === undefined ? '' : html`<p class="about" id="a-${name}">${about}</p>`}</div>`;
};

/** A button that sends a form of its own, for one change without further fields. `confirm`: the question that is asked before. */
export const formButton = (
  { token }: Pick<Visit, 'token'>,
  to: string,
  label: SafeHtml | string,
  {
    tone = 'plain',
    fields = {},
    confirm,
    title,
  }: {
    tone?: 'plain' | 'primary' | 'danger';
    fields?: Readonly<Record<string, string>>;
    confirm?: string;
    title?: string;
  } = {},
): SafeHtml =>
  html`<form method="post" action="${to}" class="inline"${attribute('data-confirm', confirm)}>${token}${Object.entries(
    fields,
  ).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )}<button class="button ${tone}"${attribute('title', title)}>${label}</button></form>`;

/** Links to further pages of a list. `word`: the link to the next page. */
export const further = (next: string | undefined, first: string | undefined, word = 'Older'): SafeHtml =>
  next === undefined && first === undefined
    ? html``
    : html`<nav class="further" aria-label="Pages of the list">${first === undefined ? '' : html`<a class="button" href="${first}">First page</a>`}${
        next === undefined ? '' : html`<a class="button" href="${next}" rel="next">${word}</a>`
      }</nav>`;

/** An address with some fields of its query changed; a field that is undefined is left out. Pure. */
export function withQuery(address: string, changes: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(address, 'http://console');
  for (const [name, value] of Object.entries(changes))
    if (value === undefined || value === '') url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  return url.pathname + url.search;
}
