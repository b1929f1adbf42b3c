/** The protocol of a terminal's WebSocket. */
export const TERMINAL_PROTOCOL = 'terrarium.terminal';

/** The last that a terminal says. */
export interface TerminalEnd {
  ended: 'exited' | 'stopped' | 'lost' | 'refused' | 'idle' | 'closing';
  /** One sentence. */
  message: string;
  exitCode?: number;
}
