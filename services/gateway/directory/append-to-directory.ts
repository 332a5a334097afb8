import {
  directoryAggregate,
  type DirectoryEvent,
  type DirectoryState,
} from '#shared/aggregates/directory/directory.ts';
import type { EventMetadata } from '#shared/contracts/commit.ts';
import { organizationKey } from '#shared/interfaces/read-models.ts';
import { handleCommand } from '#shared/messaging/log/handle-command.ts';
import { directoryLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { askedLog, waitForRevision } from '../ask-bus.ts';
import { commandOrigin, type RequestOrigin } from '../audit/request-behind.ts';
import type { GatewayContext } from '../context.ts';

/** Appends the decision of `decide` to an organization's log, and returns the state once the read model shows it. */
export async function appendToDirectory(
  { bus, clock, random, config }: Pick<GatewayContext, 'bus' | 'clock' | 'random'> & { config: { hashKey: string } },
  organization: string,
  decide: (state: DirectoryState | undefined, change: EventMetadata) => DirectoryEvent[] | Promise<DirectoryEvent[]>,
  origin: RequestOrigin,
): Promise<DirectoryState> {
  const command = {
    subject: directoryLogSubject(organization),
    decide,
    origin: commandOrigin(config, organization, origin),
  };
  const log = askedLog(bus.directory);
  const { events, stored } = await handleCommand({ log, clock, random }, directoryAggregate, command);
  if (stored === undefined) throw new Error(`nothing was decided about ${organization}, which does not exist`);
  const { revision, data } = stored.commit;
  if (events.length > 0) {
    await waitForRevision(bus.readModels.directoryOrganizations, organizationKey(organization), revision);
  }
  return data.state;
}
