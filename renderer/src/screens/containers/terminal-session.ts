import { sessionKeyProtocol } from '../../../../server/model/session-key.ts';
import { TERMINAL_PROTOCOL, type TerminalEnd } from '../../../../server/model/terminal-protocol.ts';
import { addressOf, ask } from '../../api/client.ts';
import { sessionKey } from '../../api/session-key.ts';
import { sessionState } from '../../api/session-state.ts';
import type { TerminalScreen } from '../../components/terminal/open-screen.ts';
import { announce } from '../../components/toasts.tsx';
import { preferences } from '../../preferences/preferences.ts';
import { ValueStore } from '../../value-store.ts';

export type TerminalState = { kind: 'opening' } | { kind: 'open' } | { kind: 'ended'; message: string };

/** The platform sends no more than 256 KiB ahead of what it knows to be shown. */
const ACKNOWLEDGE_BYTES = 32 * 1024;
/** The maximum size of one message; pasted text may be longer. */
const SENT_BYTES = 64 * 1024;

/** A terminal in a container. It stays open on other screens, until it is closed or the user signs out. */
export class TerminalSession {
  readonly state = new ValueStore<TerminalState>({ kind: 'opening' });
  readonly #path: string;
  readonly #host = document.createElement('div');
  #screen: TerminalScreen | undefined;
  #socket: WebSocket | undefined;
  #instance: string | undefined;

  constructor(containerId: string) {
    this.#path = `/inspect/containers/${containerId}/terminal`;
    this.#host.className = 'h-full';
  }

  /** The instance that was asked for; undefined for the first. */
  get instance(): string | undefined {
    return this.#instance;
  }

  /** Shows it in a box until the returned function is called. */
  show(box: HTMLElement): () => void {
    box.append(this.#host);
    if (!this.#screen) void this.open(this.#instance);
    return () => this.#host.remove();
  }

  /** Opens a shell in place of the one there was. */
  async open(instance: string | undefined): Promise<void> {
    this.#socket?.close();
    this.#socket = undefined;
    this.#instance = instance;
    this.state.set({ kind: 'opening' });
    try {
      const { openScreen } = await import('../../components/terminal/open-screen.ts');
      this.#screen ??= openScreen({
        host: this.#host,
        isAnnounced: preferences.value.isTerminalAnnounced,
        onTyped: (bytes) => this.#send(bytes),
        onSize: (size) => this.#sendMessage(size),
      });
    } catch {
      this.#end('The terminal could not be loaded; the network may have changed.');
      return;
    }
    this.#connect(this.#screen);
  }

  announce(isAnnounced: boolean): void {
    this.#screen?.announce(isAnnounced);
  }

  dispose(): void {
    this.#socket?.close();
    this.#socket = undefined;
    this.#screen?.dispose();
    this.#host.remove();
  }

  #connect(screen: TerminalScreen): void {
    const url = new URL(addressOf(this.#path, { ...screen.size, instance: this.#instance }), location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    const key = sessionKey();
    const socket = new WebSocket(url, [TERMINAL_PROTOCOL, ...(key === undefined ? [] : [sessionKeyProtocol(key)])]);
    socket.binaryType = 'arraybuffer';
    this.#socket = socket;
    let shownBytes = 0;
    let reportedBytes = 0;
    let last: TerminalEnd | undefined;
    let wasOpen = false;
    socket.onopen = () => {
      wasOpen = true;
      this.state.set({ kind: 'open' });
      this.#sendMessage(screen.size);
      screen.focus();
    };
    socket.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) => {
      if (typeof data === 'string') {
        last = JSON.parse(data) as TerminalEnd; // the platform's own word
        return;
      }
      screen.write(new Uint8Array(data), () => {
        shownBytes += data.byteLength;
        if (shownBytes - reportedBytes < ACKNOWLEDGE_BYTES) return;
        reportedBytes = shownBytes;
        if (socket === this.#socket) this.#sendMessage({ shown: shownBytes });
      });
    };
    socket.onclose = async () => {
      const message = last?.message ?? (wasOpen ? 'The connection to the platform was lost.' : await this.#refusal());
      if (socket !== this.#socket) return;
      screen.write('\r\n');
      this.#end(message);
    };
  }

  /** A page does not learn why a WebSocket was refused: the same address returns the reason to a plain request. */
  async #refusal(): Promise<string> {
    const answer = await ask('GET', this.#path, { query: { instance: this.#instance } });
    const isWell = answer.ok || answer.failure.code === 426;
    return isWell ? 'The connection to the platform was lost.' : answer.failure.message;
  }

  #end(message: string): void {
    this.#socket = undefined;
    this.state.set({ kind: 'ended', message });
    announce(message);
  }

  #send(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    for (let at = 0; at < bytes.length; at += SENT_BYTES) this.#socket.send(bytes.subarray(at, at + SENT_BYTES));
  }

  #sendMessage(message: object): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }
}

const sessions = new Map<string, TerminalSession>();

export function terminalOf(containerId: string): TerminalSession {
  const session = sessions.get(containerId) ?? new TerminalSession(containerId);
  sessions.set(containerId, session);
  return session;
}

/** Returns true if a terminal was opened in this window. Its last output stays available even when nothing runs any more. */
export function hasTerminal(containerId: string): boolean {
  return sessions.has(containerId);
}

// The next user who signs in must not see this output.
sessionState.whenUserLeaves(() => {
  for (const session of sessions.values()) session.dispose();
  sessions.clear();
});
