import { screen, waitFor, within } from '@testing-library/react';
import { expect, it } from 'vitest';
import { sharedPlatform } from '../../../testing/platform.mjs';
import { fill, renderWindow } from '../../../testing/render-window.tsx';

const platform = sharedPlatform({ seed: 'demo' });

it('finds an endpoint by address, method, access or target', async () => {
  const [{ id: lambdaId, org }] = (await platform.root.get('/demo/lambdas?expand=true&name=contact-form')).body;
  const [api] = (await platform.root.get('/demo/apis?name=website')).body;
  for (let number = 0; number < 10; number += 1)
    await platform.root.create(`/${org.properties.fqon}/apis/${api.id}/apiendpoints`, {
      name: `sample-${number}`,
      properties: {
        resource: `/sample/${number}`,
        methods: [number === 3 ? 'OPTIONS' : 'POST'],
        implementation_type: 'lambda',
        implementation_id: lambdaId,
      },
    });
  await renderWindow(platform, 'gateway');
  const endpoints = await screen.findByRole('region', { name: 'Endpoints' });
  const rows = () => within(endpoints).queryAllByRole('row').slice(1);
  await waitFor(() => expect(rows().length).toBeGreaterThan(10));
  for (const [filter, count] of [
    ['SAMPLE/7', 1],
    ['options', 1],
    ['order-status', 1],
    ['nothing like it', 0],
  ] as const) {
    await fill(endpoints, 'Filter the endpoints', filter);
    await waitFor(() => expect(rows()).toHaveLength(count));
  }
  expect(endpoints.textContent).toContain('No endpoint matches the filter.');
});
