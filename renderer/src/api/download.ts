import { toast } from '../components/toasts.tsx';
import { addressOf } from './client.ts';
import { sessionHeaders } from './session-key.ts';

/** Lets the browser save a response as a file, under this name unless the server sends one. Shows an error if the request failed. */
export async function download(path: string, name: string): Promise<void> {
  // Not by a plain link: that would go without the key of the session.
  const response = await fetch(addressOf(path), { headers: sessionHeaders() }).catch(() => undefined);
  if (!response?.ok) {
    const { message = 'the server does not respond' } = (await response?.json().catch(() => undefined)) ?? {};
    toast({ tone: 'error', text: `The download failed: ${message}` });
    return;
  }
  saveFile(await response.blob(), namedBy(response) ?? name);
}

/** Lets the browser save data that the window already has. */
export function saveFile(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser has read the URL by the next turn of the event loop.
  setTimeout(() => URL.revokeObjectURL(link.href));
}

/** Returns the file name from the response's header, such as `attachment; filename="terrarium.zip"`. */
function namedBy(response: Response): string | undefined {
  return /filename="?([^";]+)/.exec(response.headers.get('Content-Disposition') ?? '')?.[1];
}
