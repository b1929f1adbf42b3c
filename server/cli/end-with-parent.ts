const LOOK_EVERY_MS = 500;

/**
 * Emits SIGTERM when the parent process has ended. npm starts this process through a shell, which ends on the SIGTERM that npm
 * passes on and leaves its child running, with ports and data folder in use. Does nothing on Windows, where `ppid` never changes.
 */
export function endWithParent(): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.emit('SIGTERM', 'SIGTERM');
  }, LOOK_EVERY_MS);
  timer.unref();
}

/** The message that asks a server to stop; Windows has no SIGTERM. */
export const STOP_MESSAGE = 'stop';
