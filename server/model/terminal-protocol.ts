export const TERMINAL_PROTOCOL = 'terrarium.terminal';

export interface TerminalEnd {
  ended: 'exited' | 'stopped' | 'lost' | 'refused' | 'idle' | 'closing';
  message: string;
  exitCode?: number;
}
