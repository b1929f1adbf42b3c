/** How a process ended. */
interface Exit {
  code: number | null;
  signal: string | null;
  /** The last that it wrote to standard error. */
  stderrTail: string;
  /** What nobody caught in it, if there was such a thing. */
  uncaught: string | undefined;
  memoryMb: number;
}

/** Says why a process ended that nobody killed, and what to do about it. */
export function describeExit({ code, signal, stderrTail, uncaught, memoryMb }: Exit): string {
  if (/heap out of memory|Array buffer allocation failed/.test(stderrTail) && code !== 0) return outOfMemory(memoryMb);
  if (uncaught && code !== 0) return `${uncaught} (its process has ended; the trace is in the lambda's log)`;
  if (signal) return `the lambda's process was ended by signal ${signal}`;
  return `the lambda's process ended with exit code ${code}; a handler ends by its callback or its result, not by exit`;
}

/** Out of memory, however it was noticed. */
export function outOfMemory(memoryMb: number): string {
  return `the lambda ran out of memory at ${memoryMb} MB; raise its property 'memory' or have it hold less at a time`;
}
