import type { ServerState } from './server-supervisor.ts';

/** Names of what the window and the shell say to each other. */
export const CHANNELS = {
  version: 'terrarium:version',
  copy: 'terrarium:copy',
  openExternal: 'terrarium:open-external',
  serverState: 'terrarium:server-state',
  restartServer: 'terrarium:restart-server',
} as const;

/** What a page finds as `window.terrarium` when it is shown by the shell. */
export interface Bridge {
  platform: string;
  version(): Promise<string>;
  /** Puts a text on the clipboard. */
  copy(text: string): Promise<void>;
  /** Opens a link of http, https or mailto outside; rejects for any other. */
  openExternal(url: string): Promise<void>;
  serverState(): Promise<ServerState>;
  /** Tells of each state to come, until the function that it returns is called. */
  onServerState(listener: (state: ServerState) => void): () => void;
  restartServer(): Promise<void>;
}
