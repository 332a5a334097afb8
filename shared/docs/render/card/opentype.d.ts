/** The part of the package that cards use. Its published types need the DOM types, which would hide mistakes elsewhere. */
declare module 'opentype.js' {
  type Options = { letterSpacing?: number };
  type Font = {
    charToGlyphIndex(letter: string): number;
    getAdvanceWidth(text: string, size: number, options?: Options): number;
    getPath(
      text: string,
      x: number,
      y: number,
      size: number,
      options?: Options,
    ): { toPathData(digits: number): string };
  };
  const opentype: { parse(bytes: ArrayBuffer): Font };
  export = opentype;
}
