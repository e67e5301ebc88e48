// All pages in Portuguese. Each language has a file of its own, so that two of them run at once.

import { everyPage } from './every_page.mjs';

everyPage('pt-BR', [['dark', 1440], ['light', 360]]);
