import { describeChats } from './released-chats.ts';

// One version of each kind: one that refuses lines of sources, one that reads them, and the newest. test/slow has the others.
describeChats(['4.0.41', '4.3.19', '7.0.173']);
