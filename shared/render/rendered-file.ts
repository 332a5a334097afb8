/** A file of the bundle: path inside its top folder (`guides/x.html`), and its bytes. */
export type RenderedFile = { path: string; body: Uint8Array };
