// The server process of the shell: the command line, which also ends on a message of the shell, or when the shell has ended.
import type {} from 'electron';
import { endWithParent, STOP_MESSAGE } from '../server/cli/end-with-parent.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

// A Ctrl+C reaches this process and the shell, which then sends its message: that counts as one signal.
let isStopping = false;
for (const signal of SIGNALS) {
  process.on(signal, () => {
    isStopping = true;
  });
}

process.parentPort.on('message', ({ data }: { data: unknown }) => {
  if (data !== STOP_MESSAGE || isStopping) return;
  // Before the command line listens for signals, there is nothing to shut down.
  if (process.listenerCount('SIGTERM') < 2) process.exit(0);
  process.emit('SIGTERM', 'SIGTERM');
});
endWithParent();

// Its path is known only in the build (dist/electron next to dist/server), so it is not part of this bundle.
const commandLine = new URL('../server/cli.js', import.meta.url).href;
await import(commandLine);
// Electron keeps a utility process for as long as its port is open.
process.exit();
