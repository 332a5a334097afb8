/** An archive that is not taken. The message is a sentence for whoever sent it; it names the entry if one is at fault. */
export class ArchiveRefused extends Error {
  override name = 'ArchiveRefused';
}
