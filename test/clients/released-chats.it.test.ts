import { describeChats } from './released-chats.ts';

// The tests run with one version of each kind: one that refuses lines of sources, one that reads them, and the newest. `test/slow` runs the others.
describeChats(['4.0.41', '4.3.19', '7.0.173']);
