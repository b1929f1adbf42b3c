const PLATFORM_FRAME = /^\s+at .*(?:[/\\]lambda-child\.cjs:|[( ]node:)/;

/** True if a log line is a stack frame in the runtime of lambdas or in Node.js, which says nothing about the code of the lambda. */
export function isPlatformFrame(line: string): boolean {
  return PLATFORM_FRAME.test(line);
}
