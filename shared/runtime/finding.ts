import { messageOf } from './failures.ts';
import { missingPackage } from './installed-packages.ts';
import { withDeadline } from './with-deadline.ts';

/** A result of inspecting a system that Bindery depends on. */
export type Finding = {
  /** `warning`: it works, but not permanently or not as well as it should. `fault`: features that need it do not work. */
  level: 'good' | 'warning' | 'fault';
  /** The observation, as a sentence. */
  text: string;
  /** The recommended change, as a sentence. */
  advice?: string;
};

export const good = (text: string): Finding => ({ level: 'good', text });
export const warning = (text: string, advice: string): Finding => ({ level: 'warning', text, advice });
export const fault = (text: string, advice: string): Finding => ({ level: 'fault', text, advice });

const inspectionMs = 20_000;

/** The findings of an inspection. An inspection that fails, or takes longer than 20 seconds, is a fault with its reason. */
export async function findingsOf(inspect: () => Promise<readonly Finding[]>, advice: string): Promise<Finding[]> {
  const late = () => new Error(`The inspection got no answer within ${inspectionMs / 1_000} s.`);
  try {
    return [...(await withDeadline(inspect(), inspectionMs, late))];
  } catch (error) {
    return [fault(asSentence(missingPackage(error) ?? messageOf(error)), advice)];
  }
}

const asSentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** True if a version such as `8.14.2-beta` is at least `oldest`. False for a text that is not a version. Pure. */
function isAtLeast(version: string, oldest: readonly number[]): boolean {
  const parts = version.split(/[.+-]/, oldest.length).map(Number);
  for (const [at, least] of oldest.entries()) {
    const part = parts[at] ?? 0;
    if (part !== least) return part > least;
  }
  return true;
}

/** The finding about a server's version. `who` begins the sentence: `Redis 7.2.4 at redis:6379`. Pure. */
export function versionFinding(who: string, version: string, oldest: readonly number[]): Finding {
  return isAtLeast(version, oldest)
    ? good(`${who}.`)
    : fault(`${who} is too old.`, `Bindery needs version ${oldest.join('.')} or later.`);
}

const farClockMs = 60_000;

/** The finding about a clock that is `skewMs` ahead of ours; undefined when the difference is small. Pure. */
export function clockFinding(whose: string, skewMs: number): Finding | undefined {
  if (Math.abs(skewMs) < farClockMs) return undefined;
  const seconds = Math.round(Math.abs(skewMs) / 1_000);
  return warning(
    `${whose} is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} the clock here.`,
    'Synchronize the clocks of all machines with NTP: links, keys and logs depend on them.',
  );
}
