/** How often to look without being asked. */
const LOOK_EVERY_MS = 1000;

interface StorageWatchOptions {
  /** What is wrong with the storage at this moment, a sentence each. */
  failures(): readonly string[];
  /** Told once when something has begun to be wrong, and once when all is well again. */
  tell(message: string): void;
}

/**
 * Says on the terminal that nothing can be saved, and when it can be again: whoever has removed a data folder, or filled a
 * disk, may sit in front of it, while the clients that are refused are far away.
 */
export function watchStorage({ failures, tell }: StorageWatchOptions) {
  let told = new Set<string>();
  /** What is wrong now, each once (D-015). */
  const look = (): string[] => {
    const present = new Set(failures());
    for (const failure of present) if (!told.has(failure)) tell(failure);
    if (present.size === 0 && told.size > 0) tell('The data folder can be written to again.');
    told = present;
    return [...present];
  };
  const timer = setInterval(look, LOOK_EVERY_MS).unref();
  return { look, stop: () => clearInterval(timer) };
}
