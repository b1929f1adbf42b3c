import { expect, it } from 'vitest';
import { debugAddress, launchSnippet } from './launch-snippet.ts';

const URL_TOLD = 'ws://127.0.0.1:45357/5e049187-f53f-4e7b-aede-f6057efb34a1';

it('attaches to the address that the process tells of', () => {
  const { configurations } = JSON.parse(launchSnippet('form "a"', URL_TOLD));
  expect(configurations).toMatchObject([
    { type: 'node', request: 'attach', address: '127.0.0.1', port: 45357, name: 'Terrarium: form "a"' },
  ]);
  expect(debugAddress(URL_TOLD)).toBe('127.0.0.1:45357');
});
