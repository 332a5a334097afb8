import { describe } from 'vitest';
import { micromarkPageParser } from './micromark-page-parser.ts';
import { pageParserContract } from './page-parser.contract.ts';

describe('micromark', () => pageParserContract(micromarkPageParser));
