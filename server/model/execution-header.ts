/**
 * By this header a caught call says to a stand-in which invocation made it. It is put on where the call is caught and never
 * reaches another host.
 */
export const EXECUTION_HEADER = 'x-terrarium-execution';
