import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedPlatform } from '../../../testing/platform.mjs';
import { renderWindow } from '../../../testing/render-window.tsx';

const platform = sharedPlatform();
const { root } = platform;
/** More than a list reads at first. */
const [CALLS, FAILED] = [230, 70];
const CHANGES = 40;

beforeAll(async () => {
  await root.create('/root', { name: 'acme' });
  await root.create('/acme/workspaces', { name: 'shop' });
  const { body: spaces } = await root.get('/acme/workspaces');
  const environment = await root.create(`/acme/workspaces/${spaces[0].id}/environments`, {
    name: 'dev',
    properties: { environment_type: 'test' },
  });
  const { body: providers } = await root.get('/root/providers?expand=true');
  const provider = { id: providers.find(({ name }: { name: string }) => name === 'default-lambda').id };
  const code = `exports.run = async (event) => { if (event.includes('fail')) throw new Error('no such number'); return 'ok'; }`;
  const properties = { provider, runtime: 'nodejs', code_type: 'inline', handler: 'run', code };
  const at = `/acme/environments/${environment.id}`;
  const lambda = await root.create(`${at}/lambdas`, { name: 'numbers', properties });
  const api = await root.create(`${at}/apis`, { name: 'web', properties: {} });
  const implementation = { implementation_type: 'lambda', implementation_id: lambda.id };
  const endpoint = await root.create(`/root/apis/${api.id}/apiendpoints`, {
    name: 'n',
    properties: { resource: '/n', ...implementation },
  });
  for (let n = 0; n < CALLS; n++) {
    const body = n < FAILED ? 'fail' : 'go';
    await fetch(endpoint.properties.public_url, { method: 'POST', body });
  }
  for (let n = 0; n < CHANGES; n++)
    await root.patch(`/acme/lambdas/${lambda.id}`, [{ op: 'add', path: '/description', value: `text ${n}` }]);
});

describe('The figures above a list', () => {
  it('count all calls, although the list has read the newest 200 only', async () => {
    await renderWindow(platform, 'invocations');
    const failed = await screen.findByRole('button', { name: `${FAILED} failed` });
    await screen.findByRole('button', { name: `${CALLS - FAILED} ok` });
    const strip = await screen.findByRole('img', { name: /^Invocations from/ });
    expect(strip.getAttribute('aria-label')).toContain(`: ${CALLS - FAILED} ok, ${FAILED} failed, the slowest took `);

    // The changes are groups with their number, and as many as there are.
    await screen.findByText(/\d+ changes · drag/);
    const groups = screen.getAllByRole('link', { name: /\d+ changes, the newest: root changed numbers/ });
    expect(groups.length).toBeLessThan(CHANGES);

    // All matches are counted, however old they are.
    fireEvent.click(failed);
    await screen.findByRole('button', { name: '0 ok' });
    await screen.findByText(`${FAILED} of`, { exact: false });
    fireEvent.click(await screen.findByRole('button', { name: /^slowest / }));
    const detail = await screen.findByRole('region', { name: 'Invocation' });
    await waitFor(() => expect(within(detail).getAllByText(/no such number/).length).toBeGreaterThan(0));
  });
});

describe('The query of a list', () => {
  it('marks a mistake at its place, and the list stays; no match offers to clear it', async () => {
    await renderWindow(platform, 'invocations');
    const grid = await screen.findByRole('grid', { name: 'Invocations' });
    const rows = () => Number(grid.getAttribute('aria-rowcount'));
    await waitFor(() => expect(rows()).toBeGreaterThan(1));
    const all = rows();
    const query = screen.getByLabelText('Query of invocations');
    fireEvent.change(query, { target: { value: 'status:ok colour:red' } });
    const mistake = await screen.findByText("the field 'colour:' does not exist", { exact: false });
    expect(mistake.closest('[role=alert]')).not.toBeNull();
    expect(rows()).toBe(all);
    fireEvent.change(query, { target: { value: 'status:timeout' } });
    fireEvent.keyDown(query, { key: 'Enter' });
    await screen.findByText('No invocations match');
    fireEvent.click(screen.getAllByRole('button', { name: 'Clear the query' }).at(-1) ?? query);
    await waitFor(() =>
      expect(screen.getByRole('grid', { name: 'Invocations' }).getAttribute('aria-rowcount')).toBe(`${all}`),
    );
  });
});
