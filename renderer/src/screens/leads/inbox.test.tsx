import { screen } from '@testing-library/react';
import { beforeAll, expect, it } from 'vitest';
import { sharedPlatform } from '../../../testing/platform.mjs';
import { renderWindow } from '../../../testing/render-window.tsx';

const platform = sharedPlatform({ seed: 'demo' });
const submit = (body: string, method = 'POST') =>
  fetch(`${platform.emulator.gatewayUrl}/website/lead?from=grace@example.com`, {
    method,
    headers: { 'Content-Type': 'application/json' },
    ...(method === 'POST' && { body }),
  });

beforeAll(async () => {
  await submit('{"payload": {"email": "grace@example.com",}}');
  await submit('', 'GET');
});

it('a search for a form that did not get to the CRM leads to its invocation and its request', async () => {
  await renderWindow(platform, 'leads?q=grace');
  const invocations = await screen.findByRole('link', { name: '1 failed invocation' });
  expect(invocations.getAttribute('href')).toContain('q=status%3Afailed+%22grace%22');
  const requests = await screen.findByRole('link', { name: '1 rejected request' });
  expect(requests.getAttribute('href')).toContain('q=is%3Arefused+%22grace%22');
});
