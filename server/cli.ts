import { endWithParent } from './cli/end-with-parent.ts';
import { runCommandLine } from './cli/program.ts';
import { processTerminal } from './cli/terminal.ts';

if (process.env.npm_lifecycle_event) endWithParent();

/** Settled when the command has ended; dist/server/cli.js awaits it, as the bundle cannot: it is CommonJS (docs/decisions/bundled-server.md). */
export const ended: Promise<void> = runCommandLine(process.argv.slice(2), processTerminal(), async (config, hooks) => {
  // Loaded only now: `terrarium config` and `--help` answer without it.
  const { startEmulator } = await import('./emulator.ts');
  return startEmulator(config, hooks);
}).then((code) => {
  process.exitCode = code;
});
