import type { FindingTexts } from './finding-text.ts';

/** Findings about files that a project names by address, and about its lock. */
export const remoteFindings = {
  'remote-fetch-failed': {
    severity: 'warning',
    says: 'an API description, font or picture could not be fetched from its address, and there is no earlier copy. The message has the reason.',
    repair:
      'Correct the address, or try again when its site answers. An address of your own network needs `--private-addresses`.',
  },
  'remote-copy-used': {
    severity: 'warning',
    says: 'a file could not be fetched from its address, and an earlier copy is used.',
    repair: 'Correct the address, or try again when its site answers.',
  },
  'remote-changed': {
    severity: 'error',
    says: 'a file at an address has other bytes than `docs.lock.json` names, so it is not used, and nothing is published.',
    repair:
      'Look at the change. Run the command with `--refresh` to take it over, and commit `docs.lock.json`. Restore the file at its address if nobody should have changed it.',
  },
  'remote-not-there-yet': {
    severity: 'info',
    says: '`bindery dev` is still fetching a file from its address, or an editor has a project whose `docs.lock.json` names a file that is not on this machine.',
    repair:
      'With `bindery dev`, wait a moment: open pages show the file as soon as it is there. In an editor, run `bindery check` once, because `bindery lsp` fetches nothing.',
  },
  'lock-out-of-date': {
    severity: 'warning',
    says: '`docs.lock.json` lacks addresses that the project names (a warning), or has some that it no longer names (an info). CI uses the lock and does not write it.',
    repair: 'Run `bindery check` on your machine, and commit `docs.lock.json`.',
  },
  'bad-lock': {
    severity: 'error',
    says: '`docs.lock.json` cannot be read, so no file is fetched from its address, and nothing is published.',
    repair:
      'Restore the file from your repository, or run `bindery check --refresh`, which writes a new one. After a conflict of two branches, keep the lines of both.',
  },
} satisfies FindingTexts;
