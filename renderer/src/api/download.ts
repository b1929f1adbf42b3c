import { toast } from '../parts/toasts.tsx';
import { addressOf } from './client.ts';
import { sessionHeaders } from './window-key.ts';

/** Lets the browser save an answer of the server as a file, under that name unless the server gives it one; says why when there is none. */
export async function download(path: string, name: string): Promise<void> {
  // Not by a plain link: that would go without the key of the session.
  const response = await fetch(addressOf(path), { headers: sessionHeaders() }).catch(() => undefined);
  if (!response?.ok) {
    const { message = 'the server does not answer' } = (await response?.json().catch(() => undefined)) ?? {};
    toast({ tone: 'error', text: `Nothing was saved: ${message}` });
    return;
  }
  saveFile(await response.blob(), namedBy(response) ?? name);
}

/** Lets the browser save what the window has in hand. */
export function saveFile(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser has taken hold of it by the next turn.
  setTimeout(() => URL.revokeObjectURL(link.href));
}

/** By its header, e.g. `attachment; filename="terrarium.zip"`. */
function namedBy(response: Response): string | undefined {
  return /filename="?([^";]+)/.exec(response.headers.get('Content-Disposition') ?? '')?.[1];
}
