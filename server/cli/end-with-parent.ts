const LOOK_EVERY_MS = 500;

/**
 * Makes the end of the parent process a SIGTERM to this one. For a process that npm started: between the two stands a shell,
 * which dies of the SIGTERM that npm passes on and leaves its child behind, with ports and data folder in its hands.
 * Windows keeps naming a parent that is gone; there it does nothing.
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
