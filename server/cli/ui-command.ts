import { setTimeout as delay } from 'node:timers/promises';
import { windowRoutes } from '../api/routes/window.ts';
import { WINDOW_HOST } from '../model/host-names.ts';
import { browserContext, chooseWindow } from './choose-window.ts';
import { defineCommand, flag, json } from './command.ts';
import { configOf } from './config-options.ts';
import { ExitWith, NO } from './describe-failure.ts';
import { platformOptions } from './instance-options.ts';
import { showWindow } from './show-window.ts';
import { untilStopSignal } from './stop-signal.ts';

/** Enough for the first start of a browser that is installed as a snap, on a slow machine. */
const OPENS_WITHIN_MS = 60_000;
const NOT_OPENED = `the browser did not open the window within ${OPENS_WITHIN_MS / 1000} s. Open the address above in a browser instead.`;

export const uiCommand = defineCommand({
  name: 'ui',
  description: 'open the window of the running platform, signed in as root',
  options: {
    isPrintOnly: flag(
      '--print',
      'print the address of the window, which signs in once within ten minutes, without opening it',
    ),
    ...platformOptions,
    json: json('print the address as JSON, without opening it'),
  },
  notes: `\nIf your browser cannot resolve ${WINDOW_HOST}, replace it with 127.0.0.1.`,
  async run({ options, terminal, connect, print }) {
    const client = await connect();
    const { url } = await client.ask(windowRoutes.createSessionCode);
    print({ url }, [url]);
    if (options.isPrintOnly || options.json) return;
    const stopSignal = untilStopSignal(terminal);
    const window = chooseWindow(browserContext(terminal, configOf({}, terminal)));
    const page = await showWindow(window, () => url, terminal);
    if (!page) return;
    const end = await Promise.race([page.used, stopSignal, delay(OPENS_WITHIN_MS, 'late', { ref: false })]);
    await page.close();
    if (end === 'late') throw new ExitWith(NO, NOT_OPENED);
  },
});
