#!/usr/bin/env node
import { runCommandLine } from './cli/program.ts';
import { processTerminal } from './cli/terminal.ts';

process.exitCode = await runCommandLine(process.argv.slice(2), processTerminal(), async (config, hooks) => {
  // Loaded only now: `terrarium config` and `--help` answer without it.
  const { startEmulator } = await import('./emulator.ts');
  return startEmulator(config, hooks);
});
