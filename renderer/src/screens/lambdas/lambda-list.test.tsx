import { within } from '@testing-library/react';
import { expect, it } from 'vitest';
import { sharedPlatform } from '../../../testing/platform.mjs';
import { renderWindow } from '../../../testing/render-window.tsx';
import { placeTextOf } from './lambda-columns.tsx';

const platform = sharedPlatform({ seed: 'demo' });

it('a lambda is found by its location, which contains the workspace', async () => {
  const { body } = await platform.root.get('/demo/lambdas?name=slow-summary&expand=true');
  const location = placeTextOf({ record: body[0], workspace: 'reporting', use: undefined });
  expect(location).toBe('demo / reporting / development');
  await renderWindow(platform, `lambdas?q=${encodeURIComponent(location)}`);
  await within(document.querySelector('main') ?? document.body).findByText('1');
});
