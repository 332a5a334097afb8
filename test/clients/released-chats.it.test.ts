import { describeChats } from './released-chats.ts';

// Of each kind one: that refuses lines of sources, that reads them, and the newest. The others are in test/slow.
describeChats(['4.0.41', '4.3.19', '7.0.173']);
