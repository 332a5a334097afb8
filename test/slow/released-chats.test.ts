import { describeChats } from '../clients/released-chats.ts';
import { sdkVersions } from '../clients/sdk-pages.ts';

describeChats(sdkVersions);
