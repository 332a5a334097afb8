import { replaceFetch } from '#shared/http/replace-fetch.ts';

// Before the tests of a file: servers that tests end close connections in the middle of answers.
await replaceFetch();
