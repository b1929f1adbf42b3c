import { screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { expect, it, onTestFinished } from 'vitest';
import { WEB_FORM } from '../../../../server/model/web-form.ts';
import { delay } from '../../../testing/delay.ts';
import { sharedPlatform } from '../../../testing/platform.mjs';
import { renderWindow } from '../../../testing/render-window.tsx';
import { send } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { prefer } from '../../preferences/preferences.ts';

const platform = sharedPlatform({ seed: 'demo' });

/** Grants a user an action in the demo organization. */
async function grant(action: string, userId: string): Promise<void> {
  const { body } = await platform.root.get(`/demo/entitlements?action=${action}&expand=true`);
  const operation = { op: 'add', path: '/properties/identities/-', value: userId };
  await platform.root.patch(`/root/entitlements/${body[0].id}`, [operation]);
}

const mapRegion = () => screen.findByRole('region', { name: 'Live map' });
const columnIn = (map: HTMLElement, name: string) => within(map).findByRole('list', { name });

it('shows placeholders until the figures of the forms and the map have been read, and no counts', async () => {
  const [readFigures, readMap] = [delay('/inspect/figures'), delay('/inspect/live-map')];
  await renderWindow(platform, '');
  const map = await mapRegion();
  await within(map).findByText('Loading the live map');
  expect(document.body.textContent).not.toMatch(/\b0 (leads|requests)|no requests|No lambda has|First steps/);
  readMap();
  await columnIn(map, 'Who calls');
  expect(screen.queryByRole('heading', { name: 'First steps' })).toBeNull();
  readFigures();
  await screen.findByRole('heading', { name: 'First steps' });
});

it('shows the way of a form with its failure, and the same as a table', async () => {
  await renderWindow(platform, '');
  const map = await mapRegion();
  const targets = await columnIn(map, 'Lambdas and containers');
  const { gatewayUrl } = platform.emulator;
  await fetch(`${gatewayUrl}/website/lead`, { method: 'POST', body: JSON.stringify(WEB_FORM) });
  await within(await columnIn(map, 'Outside')).findByText('1 request');
  const gateway = await columnIn(map, 'Gateway');
  expect(within(gateway).getByRole('link', { name: 'POST /website/lead' }).getAttribute('href')).toContain('/gateway?');
  expect(within(targets).getByRole('link', { name: 'contact-form' }).getAttribute('href')).toContain('/lambdas/');

  await fetch(`${gatewayUrl}/website/lead`, { method: 'POST', body: 'no JSON' });
  const failure = await within(targets).findByRole('link', {
    name: '1 failed: open the newest failure of contact-form',
  });
  await within(map).findByText(/1 node failing/);
  await userEvent.click(within(map).getByRole('radio', { name: 'Table' }));
  expect(within(map).queryByRole('list')).toBeNull();
  const table = within(map).getByRole('table', { name: 'Requests of the last hour' });
  within(table).getByText('POST /website/lead (2)');
  await userEvent.click(within(map).getByRole('radio', { name: 'Map' }));
  expect(failure.getAttribute('href')).toContain('/invocations?');
});

it("counts only the sample app's pipeline as run", async () => {
  const recordRun = async (path: string) => {
    const jobs = [{ name: 'build', stage: 'build', state: 'success' }];
    const variables = { present: [], missing: [] };
    const start = { project: { id: 101, path }, branch: 'main', sha: 'a'.repeat(40), variables, jobs };
    const { id } = await platform.root.create('/../inspect/pipelines', start);
    await send('PUT', `/inspect/pipelines/${id}`, { state: 'success', jobs, log: [], exitCode: 0 });
    await queryClient.invalidateQueries();
  };
  await renderWindow(platform, '');
  const step = () => screen.getByText('Run the pipeline of the sample app').closest('li');
  await recordRun('elsewhere/app');
  await screen.findByRole('heading', { name: 'First steps' });
  await waitFor(() => expect(queryClient.isFetching()).toBe(0));
  expect(step()?.textContent).not.toMatch(/done|last run/);
  await recordRun('fern-moss/shop');
  await waitFor(() => expect(step()?.textContent).toMatch(/\(done\).*The last run: succeeded/));
});

it('shows the map alone to a presenter', async () => {
  await renderWindow(platform, '');
  await screen.findByRole('heading', { name: 'First steps' });
  prefer({ isPresenting: true });
  onTestFinished(() => prefer({ isPresenting: false }));
  await waitFor(() => expect(screen.queryByRole('heading', { name: 'First steps' })).toBeNull());
  await columnIn(await mapRegion(), 'Outside');
  expect(document.body.textContent).not.toMatch(/Terrarium runs lambdas/);
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

  const outside = await columnIn(await mapRegion(), 'Outside');
  expect(within(outside).getAllByRole('listitem').length).toBeGreaterThanOrEqual(3);
});

it('shows the missing permission in place of counts to a user who can view no requests', async () => {
  const user = await platform.root.create('/root/users', { name: 'una', properties: { password: 'secret' } });
  await renderWindow(platform, '');
  await columnIn(await mapRegion(), 'Outside');
  await send('PUT', '/inspect/session/view-as', { userId: user.id });
  await queryClient.invalidateQueries();
  await within(await mapRegion()).findByText(/You need the lambda\.view permission/);
  expect((await mapRegion()).textContent).not.toMatch(/requests/);
});
