import { replaceFetch } from '#shared/http/replace-fetch.ts';

// Runs before the tests of a file, because servers that tests stop close connections in the middle of answers.
replaceFetch();
