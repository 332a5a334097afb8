import type { Diagnostic } from '#shared/contracts/diagnostic.ts';

/** Texts of one code of findings, for the documentation and for `bindery check --explain`. All texts are Markdown. */
export type FindingText = {
  /** The severity that findings of this code have, or the highest one. */
  severity: Diagnostic['severity'];
  /** The mistake, as the end of a sentence that begins with "This finding says that". */
  says: string;
  /** The step of the author that removes the finding. */
  repair: string;
  /**
   * A file with the mistake and the same file without it. An example in `docs.json` shows only the settings in question. Absent for findings that no
   * short file has, such as those about sizes.
   */
  example?: { file: string; before: string; after: string };
  /** Further files that the example needs; tests use them. */
  others?: Readonly<Record<string, string>>;
  /** True if `bindery check --fix` can repair it. */
  fix?: boolean;
};

/** Texts of findings by their code. */
export type FindingTexts = Readonly<Record<string, FindingText>>;
