import type { Command } from 'commander';
import { readConfig } from '../config-sources.ts';
import { windowRows } from '../contract/window.ts';
import { WINDOW_HOST } from '../model/window-host.ts';
import { chooseWindow } from './choose-window.ts';
import { addPlatformOptions, connect } from './instance-options.ts';
import { printAnswer } from './print-answer.ts';
import { showWindow } from './show-window.ts';
import type { Terminal } from './terminal.ts';
import { windowChoice, windowSurroundings } from './window-surroundings.ts';

/** `terrarium ui`: an address of the running platform's window that signs in once, opened in a browser where there can be one. */
export function addUiCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('ui')
    .description('open the window of the running platform, signed in as root')
    .option('--print', 'print its address, which signs in once within ten minutes, and open nothing')
    .addHelpText(
      'after',
      `\nBrowsers lead ${WINDOW_HOST} to this machine by themselves; in one that does not, put 127.0.0.1 in its place.`,
    );
  addPlatformOptions(command, 'print the address as JSON, and open nothing').action(async () => {
    const client = await connect(command, terminal);
    const { url } = await client.ask(windowRows.createSessionCode);
    printAnswer(command, terminal, { url }, () => terminal.print(url));
    if (command.getOptionValue('print') === true || command.getOptionValue('json') === true) return;
    const surroundings = {
      ...windowSurroundings(
        terminal,
        windowChoice(readConfig({ flags: {}, env: terminal.env, folder: terminal.folder })),
      ),
      electron: { missing: 'a window of Electron has a platform of its own' },
    };
    await showWindow(chooseWindow(surroundings), surroundings, url, terminal);
  });
}
