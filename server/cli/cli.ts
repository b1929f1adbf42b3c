import { endWithParent } from './end-with-parent.ts';
import { runCommandLine } from './program.ts';
import { processTerminal } from './terminal.ts';

if (process.env.npm_lifecycle_event) endWithParent();

/** Resolves when the command has ended. dist/server/cli.js awaits it; the CommonJS bundle cannot (docs/internals/decisions/bundled-server.md). */
export const ended: Promise<void> = runCommandLine(process.argv.slice(2), processTerminal(), async (config, hooks) => {
  // Loaded only now: `terrarium config` and `--help` answer without it.
  const { startEmulator } = await import('../platform/emulator.ts');
  return startEmulator(config, hooks);
}).then((code) => {
  process.exitCode = code;
});
