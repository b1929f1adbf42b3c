// The only thing that a page of the shell gets beyond a browser's. Runs in the sandbox, so it's one CommonJS file.
import { contextBridge, ipcRenderer } from 'electron';
import { type Bridge, CHANNELS } from './bridge-channels.ts';
import type { ServerState } from './server-supervisor.ts';

const bridge: Bridge = {
  platform: process.platform,
  version: () => ipcRenderer.invoke(CHANNELS.version),
  copy: (text) => ipcRenderer.invoke(CHANNELS.copy, text),
  openExternal: (url) => ipcRenderer.invoke(CHANNELS.openExternal, url),
  serverState: () => ipcRenderer.invoke(CHANNELS.serverState),
  onServerState: (listener) => {
    // The event itself would hand the page the way to every channel.
    const pass = (_event: unknown, state: ServerState) => listener(state);
    ipcRenderer.on(CHANNELS.serverState, pass);
    return () => ipcRenderer.off(CHANNELS.serverState, pass);
  },
  restartServer: () => ipcRenderer.invoke(CHANNELS.restartServer),
};

contextBridge.exposeInMainWorld('terrarium', bridge);
