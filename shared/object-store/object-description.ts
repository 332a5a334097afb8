/** What is stored with an object's bytes. */
export type ObjectDescription = { contentType?: string; metadata: Readonly<Record<string, string>> };

/** S3 allows 2 KB. */
const MAX_BYTES = 2000;

/** Checks what a writer gives with an object, the same for every store. Throws a sentence that names the wrong entry. */
export function objectDescription(options: {
  contentType?: string;
  metadata?: Readonly<Record<string, string>>;
}): ObjectDescription {
  const metadata = options.metadata ?? {};
  for (const [name, value] of Object.entries(metadata)) {
    if (!/^[a-z0-9][a-z0-9-]*$/.test(name)) throw new Error(`metadata "${name}": a name has only a-z, 0-9 and -`);
    // Stores trim spaces at both ends, so such a value would not come back as it was.
    if (!/^[\x20-\x7e]*$/.test(value) || value.trim() !== value) {
      throw new Error(`metadata "${name}": a value has only printable ASCII, without spaces around it`);
    }
  }
  const { contentType } = options;
  if (contentType !== undefined && !/^[\x21-\x7e][\x20-\x7e]*$/.test(contentType)) {
    throw new Error(`the content type ${JSON.stringify(contentType)} is not printable ASCII`);
  }
  const description = contentType === undefined ? { metadata } : { contentType, metadata };
  if (JSON.stringify(description).length > MAX_BYTES) throw new Error(`metadata is longer than ${MAX_BYTES} bytes`);
  return description;
}
