/** What a server understands as the order to stop; Windows knows no SIGTERM. */
export const STOP_MESSAGE = 'stop';
