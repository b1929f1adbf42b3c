import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { act, cleanup, configure, fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { expect, onTestFinished } from 'vitest';
import { queryClient } from '../src/api/query-client.ts';
import { openSession } from '../src/api/session.ts';
import { Toasts } from '../src/components/toasts.tsx';
import { listenToKeys } from '../src/keys/use-keys.ts';
import { router } from '../src/router.tsx';
import { Gate } from '../src/shell/gate.tsx';
import type { Platform } from './platform.mjs';

// These limits end what hangs, as in the journeys.
configure({
  asyncUtilTimeout: 20_000,
  // Whether a style hides a button is for the journeys to see: there are no styles here.
  defaultHidden: true,
  // The rendered DOM has thousands of lines; its text is enough.
  getElementError: (message) => new Error(`${message}\n\nThe window says: ${document.body.textContent}`),
});
listenToKeys();
// Before any test: how long it takes to compile a screen is nothing that a test waits for.
await Promise.all(Object.values(import.meta.glob('../src/screens/*/screen.tsx')).map((load) => load()));

/** Requests go to the platform of the test, with the cookies that it has set: what a browser does, and Node does not. */
function connect({ emulator }: Platform): () => void {
  const nodeFetch = globalThis.fetch;
  const cookies = new Map<string, string>();
  globalThis.fetch = async (path, init) => {
    const headers = new Headers(init?.headers);
    headers.set('Origin', emulator.baseUrl);
    headers.set('Cookie', Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; '));
    const answer = await nodeFetch(new URL(String(path), emulator.baseUrl), { ...init, headers });
    for (const text of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
      cookies.set(name, value);
    }
    return answer;
  };
  return () => {
    globalThis.fetch = nodeFetch;
  };
}

/** The whole window as `main.tsx` draws it, signed in as root; `path` is below `/ui/`. Removed after the test. */
export async function renderWindow(platform: Platform, path: string): Promise<void> {
  const disconnect = connect(platform);
  const code = new URL(platform.emulator.windowUrl()).searchParams.get('code') ?? '';
  history.replaceState(null, '', `/ui/?code=${code}`);
  await openSession();
  render(
    <QueryClientProvider client={queryClient}>
      <Gate>
        <RouterProvider router={router} />
      </Gate>
      <Toasts />
    </QueryClientProvider>,
  );
  onTestFinished(() => {
    cleanup();
    queryClient.clear();
    localStorage.clear();
    sessionStorage.clear();
    disconnect();
  });
  // Once it is drawn: until then nothing follows the router.
  await goTo(path);
}

/** Goes to another place of the window, as its links do. */
const goTo = (path: string) => act(() => router.navigate({ href: `/ui/${path}` }));

/** Writes a text into the first field of that name, at once. */
export async function fill(dialog: HTMLElement, label: string, text: string): Promise<void> {
  const [field = dialog] = await within(dialog).findAllByLabelText(label, { selector: 'input, textarea' });
  fireEvent.change(field, { target: { value: text } });
  fireEvent.blur(field);
}

/** Chooses an entry of a list that a button opens. */
export async function pick(dialog: HTMLElement, field: RegExp, option: string): Promise<void> {
  const user = userEvent.setup();
  const button = await within(dialog).findByRole('button', { name: field });
  // It is disabled until its options have arrived.
  await waitFor(() => expect(button).toHaveProperty('disabled', false));
  await user.click(button);
  // Not the options of the native list, which is hidden next to it.
  await user.click(await screen.findByRole('option', { name: option, hidden: false }));
}

/** Chooses a resource by a part of its name. */
export async function pickResource(dialog: HTMLElement, field: string, name: string): Promise<void> {
  const user = userEvent.setup();
  const box = await within(dialog).findByRole('combobox', { name: field });
  await user.click(box);
  fireEvent.change(box, { target: { value: name } });
  const offered = await screen.findByRole('listbox', { name: /^Suggestions/ });
  await waitFor(() => expect(offered.hasAttribute('data-earlier')).toBe(false));
  const [option] = await within(offered).findAllByRole('option', { name: new RegExp(`^${name}`) });
  if (option) await user.click(option);
  await waitFor(() => expect(box).toHaveProperty('value', name));
}
