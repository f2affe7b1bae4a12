/** Loaded for `okstra preview` only. */
import { readWithin, stampOf } from '../host/serving/limited.js';
import { readPage } from '../host/serving/page.js';
import { hasScreen } from '../host/serving/screen.js';
import { serve } from '../host/serving/server.js';
import type { Serving } from '../host/serving/serving.js';

export const serving: Serving = {
  serve,
  page: () => readPage(__dirname),
  hasScreen,
  async show(url, words) {
    return (await import('./browser.js')).show(url, words);
  },
  readWithin,
  stamp: stampOf,
};
