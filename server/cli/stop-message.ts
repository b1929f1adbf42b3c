/** The message that asks a server to stop; Windows has no SIGTERM. */
export const STOP_MESSAGE = 'stop';
