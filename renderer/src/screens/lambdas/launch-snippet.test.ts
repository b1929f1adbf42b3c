import { expect, it } from 'vitest';
import { chromeAddress, launchSnippet } from './launch-snippet.ts';

const INSPECTOR_URL = 'ws://127.0.0.1:45357/5e049187-f53f-4e7b-aede-f6057efb34a1';

it('attaches to the address that the process tells of', () => {
  const { configurations } = JSON.parse(launchSnippet('form "a"', INSPECTOR_URL));
  expect(configurations).toMatchObject([
    { type: 'node', request: 'attach', websocketAddress: INSPECTOR_URL, name: 'Terrarium: form "a"' },
  ]);
  expect(chromeAddress(INSPECTOR_URL)).toContain('&ws=127.0.0.1:45357/5e049187-');
});
