import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { type DeadLetter, deadLetterSchema } from '#shared/contracts/dead-letters.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { type Finding, good, warning } from '#shared/runtime/finding.ts';
import { type BusAddress, openedAtOnce } from './connection.ts';
import { natsDocumentStore } from './nats-document-store.ts';

const openWithinMs = 5_000;
const bucket = 'dead-letters';

/** Findings about the messages that services set aside. The user of the address must be able to read the dead letters. */
export async function inspectDeadLetters(address: BusAddress): Promise<Finding[]> {
  try {
    return deadLetterFindings(await storedLetters(address));
  } catch (error) {
    return [
      warning(
        `The dead letters cannot be read as "${address.user}": ${messageOf(error)}`,
        'See the other findings about the bus here.',
      ),
    ];
  }
}

async function storedLetters(address: BusAddress): Promise<DeadLetter[]> {
  const connection = await openedAtOnce(address, 'inspection', openWithinMs);
  try {
    const js = jetstream(connection);
    const jsm = await jetstreamManager(connection, { checkAPI: false });
    const kv = await new Kvm(js).open(bucket, { allow_direct: true });
    const letters: DeadLetter[] = [];
    for await (const page of natsDocumentStore(kv, { js, jsm }, { name: bucket }, deadLetterSchema).pages()) {
      letters.push(...page.flatMap((read) => ('document' in read ? [read.document] : [])));
    }
    return letters;
  } finally {
    await connection.close();
  }
}

/** One finding for the messages that wait for an upgrade, and one for those that wait for an operator. Pure. */
function deadLetterFindings(letters: readonly DeadLetter[]): Finding[] {
  const aside = letters.filter(({ state }) => state === 'aside');
  const newer = aside.filter(({ cause }) => cause === 'newer');
  const poison = aside.filter(({ cause }) => cause !== 'newer');
  if (aside.length === 0) return [good('No message is set aside.')];
  const findings: Finding[] = [];
  if (newer.length > 0) {
    findings.push(
      warning(
        `${counted(newer)} set aside until an upgrade: a newer version of Bindery wrote ${newer.length === 1 ? 'it' : 'them'}, and ${servicesOf(newer)} of this version cannot read ${newer.length === 1 ? 'it' : 'them'}.`,
        'Run the newer version of these services: it handles the messages when it starts. "bindery dead list" names them.',
      ),
    );
  }
  if (poison.length > 0) {
    findings.push(
      warning(
        `${counted(poison)} set aside, because ${servicesOf(poison)} cannot handle ${poison.length === 1 ? 'it' : 'them'}.`,
        '"bindery dead list" shows each with its reason; settle it with "bindery dead retry" or "bindery dead drop".',
      ),
    );
  }
  return findings;
}

const counted = ({ length }: readonly unknown[]): string => (length === 1 ? '1 message is' : `${length} messages are`);

const servicesOf = (letters: readonly DeadLetter[]): string =>
  [...new Set(letters.map(({ service }) => `the ${service}`))].toSorted().join(' and ');
