export function fetchNatsServer(): Promise<void>;
export function tarGzMember(archive: Uint8Array, name: string): Uint8Array | undefined;
export function zipMember(archive: Uint8Array, name: string): Uint8Array | undefined;
