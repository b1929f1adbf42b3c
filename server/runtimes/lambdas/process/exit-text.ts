interface Exit {
  code: number | null;
  signal: string | null;
  stderrTail: string;
  uncaught: string | undefined;
  memoryMb: number;
}

export function describeExit({ code, signal, stderrTail, uncaught, memoryMb }: Exit): string {
  if (/heap out of memory|Array buffer allocation failed/.test(stderrTail) && code !== 0) return outOfMemory(memoryMb);
  if (uncaught && code !== 0) return `${uncaught} (its process has ended; the trace is in the lambda's log)`;
  if (signal) return `the lambda's process was ended by signal ${signal}`;
  return `the lambda's process ended with exit code ${code}; to end a handler, return a result or call its callback instead`;
}

export function outOfMemory(memoryMb: number): string {
  return `the lambda ran out of memory at ${memoryMb} MB; increase its property 'memory', or use less memory`;
}
