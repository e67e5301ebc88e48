// All pages in English. Each language has a file of its own, so that two of them run at once.

import { everyPage } from './every_page.mjs';

everyPage('en', [['light', 1440], ['dark', 360]]);
