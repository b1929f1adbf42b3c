// The desktop shell's main process.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { app, BrowserWindow, clipboard, Menu, screen, session, shell, Tray, utilityProcess } from 'electron';
import { z } from 'zod';
import { STOP_MESSAGE } from '../server/cli/end-with-parent.ts';
import { SHELL_ARGUMENTS } from '../server/cli/run-shell.ts';
import { SYSTEM } from '../server/system/this-system.ts';
import { startShell } from './shell.ts';

const serverArguments = z.array(z.string()).parse(JSON.parse(process.env[SHELL_ARGUMENTS] ?? '[]'));

// Electron would quit at once on these signals; this lets the server shut down first.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => app.quit());
// On Windows, where a signal would end it at once, `terrarium start` sends a message.
process.on('message', (message) => {
  if (message === STOP_MESSAGE) app.quit();
});

startShell({
  electron: { app, BrowserWindow, Tray, Menu, session, shell, clipboard, screen, utilityProcess },
  folder: dirname(fileURLToPath(import.meta.url)),
  serverArguments,
  argv: process.argv,
  env: process.env,
  platform: SYSTEM,
  workFolder: app.isPackaged ? app.getPath('home') : process.cwd(),
  pid: process.pid,
  print: (text, stream = 'stdout') => process[stream].write(text),
}).catch((failure: unknown) => {
  process.stderr.write(`terrarium: the window cannot be opened: ${String(failure)}\n`);
  app.exit(1);
});
