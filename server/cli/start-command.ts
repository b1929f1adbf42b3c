import { UserError } from '../platform/config.ts';
import { chooseWindow } from './choose-window.ts';
import { defineCommand, flag, json } from './command.ts';
import { configOf, settingOptions } from './config-options.ts';
import { startDetached } from './detach.ts';
import { fetchInBackground } from './electron-for-later.ts';
import { ExitWith } from './exit-with.ts';
import { greeting } from './greeting.ts';
import { withKeptPorts } from './kept-ports.ts';
import { runShell } from './run-shell.ts';
import { withPlatform } from './running-platform.ts';
import { showWindow } from './show-window.ts';
import { untilStopSignal } from './stop-signal.ts';
import { findShellFile, windowChoice, windowContext } from './window-context.ts';

const NO_JSON =
  '--json requires --detach. To get the addresses of a platform in the foreground, use --ready-file FILE.';

/**
 * `terrarium start`, the default command: starts the platform, prints its addresses and credentials, opens its window
 * (docs/internals/decisions/the-window.md), and runs until a stop signal.
 */
export const startCommand = defineCommand({
  name: 'start',
  description: 'start the platform (the default command)',
  options: {
    detach: flag('--detach', 'run in the background; return when the platform is ready (to stop it: `terrarium stop`)'),
    json: json('with --detach: print the addresses as JSON'),
    ...settingOptions,
  },
  async run({ options, terminal, startEmulator, line: [, ...args], print }) {
    const configured = configOf(options, terminal);
    if (options.detach) {
      const inner = args.filter((word) => word !== '--detach' && word !== '--json');
      const { instance, log } = await startDetached(configured.config, inner, terminal);
      print({ ...instance, log }, [
        `Terrarium is ready at ${instance.baseUrl} (process ${instance.pid}). Its output is written to ${log}`,
      ]);
      return;
    }
    if (options.json) throw new UserError(NO_JSON);
    const found = options.instance !== undefined ? await withKeptPorts(configured) : configured;
    const stopSignal = untilStopSignal(terminal);
    let context = windowContext(terminal, windowChoice(found));
    const shell = chooseWindow(context);
    if (shell.kind === 'electron') {
      terminal.print(shell.line);
      const end = await runShell(shell.path, findShellFile() ?? '', args, terminal, stopSignal);
      if ('exitCode' in end) throw new ExitWith(end.exitCode);
      context = { ...context, electron: { missing: `Electron could not start (${end.failure})` } };
    }
    const window = chooseWindow(context);
    await withPlatform(found, terminal, startEmulator, async (emulator) => {
      for (const line of greeting(emulator, terminal)) terminal.print(line);
      const page = await showWindow(window, context, () => emulator.windowUrl(), terminal);
      const stopFetching = fetchInBackground(window, context, terminal);
      terminal.print(`\n${await stopSignal}: stopping ...`);
      await page?.close();
      await stopFetching();
    });
  },
});
