import { z } from 'zod';
import { CHANNELS } from './bridge-channels.ts';
import type { ElectronParts, SenderEvent } from './electron-parts.ts';
import { isExternalLink } from './external-link.ts';
import type { ServerSupervisor } from './server-supervisor.ts';

const MAX_COPIED_LENGTH = 10 * 1024 * 1024;

const nothing = z.tuple([]);
const textSchema = z.tuple([z.string().max(MAX_COPIED_LENGTH)]);
const linkSchema = z.tuple([z.string().refine(isExternalLink, 'only links of http, https and mailto open outside')]);

/** Answers the window. Whoever asks has to be the top frame of one of our pages, and to say what the channel expects. */
export function answerBridge(
  { ipcMain, clipboard, shell, app }: Pick<ElectronParts, 'ipcMain' | 'clipboard' | 'shell' | 'app'>,
  supervisor: Pick<ServerSupervisor, 'state' | 'restart'>,
  isOurs: (url: string) => boolean,
): void {
  function handle<T extends z.ZodType>(channel: string, schema: T, answer: (values: z.output<T>) => unknown): void {
    ipcMain.handle(channel, (event: SenderEvent, ...values: unknown[]) => {
      const frame = event.senderFrame;
      if (!frame || frame.parent || !isOurs(frame.url)) throw new Error('This page may not speak to the shell.');
      const { success, data, error } = schema.safeParse(values);
      if (!success) throw new Error(`${channel}: ${z.prettifyError(error)}`);
      return answer(data);
    });
  }
  handle(CHANNELS.version, nothing, () => app.getVersion());
  handle(CHANNELS.copy, textSchema, ([text]) => clipboard.writeText(text));
  handle(CHANNELS.openExternal, linkSchema, ([url]) => shell.openExternal(url));
  handle(CHANNELS.serverState, nothing, () => supervisor.state);
  handle(CHANNELS.restartServer, nothing, () => supervisor.restart());
}
