import { serveChild } from '../child-server.ts';
import { dishonest } from './dishonesty.ts';

serveChild(dishonest((request) => Promise.resolve(request)));
