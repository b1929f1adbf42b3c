// The server, as a process of the shell: the command line itself, which also ends when the shell tells it to or is gone.
import type {} from 'electron';
import { endWithParent } from '../server/cli/end-with-parent.ts';
import { STOP_MESSAGE } from './stop-message.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

// Ctrl+C at the keyboard reaches this process and the shell, which then tells us, too: that is asked once, not twice.
let isStopping = false;
for (const signal of SIGNALS) {
  process.on(signal, () => {
    isStopping = true;
  });
}

process.parentPort.on('message', ({ data }: { data: unknown }) => {
  if (data !== STOP_MESSAGE || isStopping) return;
  // Before the command line listens, there is nothing yet to bring to an end.
  if (process.listenerCount('SIGTERM') < 2) process.exit(0);
  process.emit('SIGTERM', 'SIGTERM');
});
endWithParent();

// Its place is known only where it is built (dist/electron beside dist/server), so it's no part of this bundle.
const commandLine = new URL('../server/cli.js', import.meta.url).href;
await import(commandLine);
// Electron keeps a utility process for as long as its port is open.
process.exit();
