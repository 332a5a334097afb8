const longest = 63;

/** An id made of an organization's name: `Acme, Inc.` → `acme-inc`; with a suffix when that one is taken. Pure. */
export function organizationIdFor(name: string, suffix?: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  const end = suffix === undefined ? '' : `-${suffix}`;
  return `${(plain === '' ? 'organization' : plain).slice(0, longest - end.length)}${end}`;
}
