import { screen, waitFor } from '@testing-library/react';
import { expect, it, onTestFinished } from 'vitest';
import { sharedPlatform } from '../../../testing/platform.mjs';
import { renderWindow } from '../../../testing/render-window.tsx';
import { send } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';

const platform = sharedPlatform({ seed: 'demo' });

/** Grants a user an action in the demo organization. */
async function grant(action: string, userId: string): Promise<void> {
  const { body } = await platform.root.get(`/demo/entitlements?action=${action}&expand=true`);
  const operation = { op: 'add', path: '/properties/identities/-', value: userId };
  await platform.root.patch(`/root/entitlements/${body[0].id}`, [operation]);
}

it('shows placeholders until the leads have been read, and no counts or missing lambdas', async () => {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  const realFetch = globalThis.fetch;
  globalThis.fetch = async (path, init) => {
    if (String(path).includes('/inspect/leads')) await promise;
    return realFetch(path, init);
  };
  onTestFinished(() => {
    resolve();
    globalThis.fetch = realFetch;
  });
  await renderWindow(platform, '');
  await screen.findByRole('heading', { name: 'Services' });
  expect(screen.getByText('Loading the path of the form')).toBeTruthy();
  expect(document.body.textContent).not.toMatch(/\b0 leads|No lambda has|First steps/);
  resolve();
  await screen.findByRole('list', { name: 'Way of a form' });
  await screen.findByRole('heading', { name: 'First steps' });
});

it('offers only steps that the signed-in user can do', async () => {
  const viewer = await platform.root.create('/root/users', { name: 'vera', properties: { password: 'secret' } });
  for (const action of ['org.view', 'lambda.view', 'api.view', 'apiendpoint.view']) await grant(action, viewer.id);
  await renderWindow(platform, '');
  await screen.findByRole('link', { name: 'Start from code that sends leads' });
  await send('PUT', '/inspect/session/view-as', { userId: viewer.id });
  await queryClient.invalidateQueries();
  await waitFor(() => expect(screen.queryByRole('link', { name: 'Start from code that sends leads' })).toBeNull());
  expect(document.body.textContent).not.toMatch(/Load the demo data|Run the pipeline|then undo it/);
});
