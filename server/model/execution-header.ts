/** Tells a mock which invocation made an intercepted call. It is never sent to other hosts. */
export const EXECUTION_HEADER = 'x-terrarium-execution';
