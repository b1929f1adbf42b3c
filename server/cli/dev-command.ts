import { join, resolve } from 'node:path';
import { IN_MEMORY } from '../platform/config-schema.ts';
import { defineCommand, flag, json } from './command.ts';
import { configOf, DATA_FOLDER, settingOptions } from './config-options.ts';
import { findDevProject } from './dev-project.ts';
import { DevSession, keyLines } from './dev-session.ts';
import { setWorldAside } from './reset-command.ts';
import { withPlatform } from './running-platform.ts';
import { untilStopSignal } from './stop-signal.ts';

const NOTES = `
A project is a folder with a world file (terrarium.yaml or world.yaml), or with the code of one lambda: package.json with main, or index.js or
index.ts, and a .env with its variables. The lambda gets the endpoint /web/NAME. The world is kept in .terrarium in this folder.

Keys, in a terminal:
${keyLines().join('\n')}`;

/** The world file is the seed. */
const devSettings = Object.fromEntries(Object.entries(settingOptions).filter(([name]) => name !== 'seed'));

export const devCommand = defineCommand({
  name: 'dev',
  description: 'start the project of a folder, print its requests with their logs, and apply every save',
  arguments: [['[folder]', 'folder or world file of the project (default: found from the current folder upward)']],
  options: {
    fresh: flag('--fresh', 'start over: move the world of earlier runs away first'),
    debug: flag('--debug', 'start a debugger for each lambda, and write .vscode/launch.json unless it exists'),
    ...devSettings,
    json: json('print each event as one line of JSON; no keys'),
  },
  notes: NOTES,
  async run({ options, terminal, startEmulator }, named) {
    const startedMs = terminal.nowMs();
    const project = findDevProject(resolve(terminal.folder, named ?? '.'), named !== undefined);
    // A mistake in the files is reported before anything starts.
    const seed = await project.read(terminal.env);
    const defaults = { data: join(project.folder, DATA_FOLDER) };
    const found = configOf(options, terminal, { seed: 'empty' }, defaults, project.folder);
    if (options.fresh && found.config.data !== IN_MEMORY) await setWorldAside(found.config.data);
    const stopSignal = untilStopSignal(terminal);
    await withPlatform(found, terminal, startEmulator, async (emulator) => {
      const session = await DevSession.start({
        project,
        seed,
        emulator,
        found,
        terminal,
        isJson: options.json,
        isDebugging: options.debug,
        startedMs,
        stopSignal,
      });
      const signal = await stopSignal;
      if (!options.json) terminal.print(`\n${signal}: stopping ...`);
      await session.stop();
    });
  },
});
