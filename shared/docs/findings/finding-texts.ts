import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { configurationFindings } from './configuration-findings.ts';
import type { FindingText, FindingTexts } from './finding-text.ts';
import { linkFindings } from './link-findings.ts';
import { pageFindings } from './page-findings.ts';
import { qualityFindings } from './quality-findings.ts';
import { referenceFindings } from './reference-findings.ts';
import { remoteFindings } from './remote-findings.ts';

/** The groups of codes, in the order of the documentation. */
export const findingGroups = {
  'Configuration and navigation': configurationFindings,
  Pages: pageFindings,
  'Links and files': linkFindings,
  'API descriptions': referenceFindings,
  'Files at an address': remoteFindings,
  'Accessibility and weight': qualityFindings,
} satisfies Record<string, FindingTexts>;

const all = {
  ...configurationFindings,
  ...pageFindings,
  ...linkFindings,
  ...referenceFindings,
  ...remoteFindings,
  ...qualityFindings,
};

/** Every code that Bindery reports about a project. */
export type FindingCode = keyof typeof all;

/** Texts of all findings by code. */
export const findingTexts: Readonly<Record<FindingCode, FindingText>> = all;

/** A diagnostic that this version of Bindery makes. A stored diagnostic may have a code of another version. */
export type Finding = Diagnostic & { code: FindingCode };

/** Address of the section about a code in the documentation of Bindery. Pure. */
export const findingAddress = (code: string): string => `/reference/findings#${code}`;
