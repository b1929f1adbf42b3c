import { expect, it, onTestFinished, vi } from 'vitest';
import { ask } from './client.ts';
import { checkSession } from './session.ts';
import { sessionState } from './session-state.ts';

function respondWith(status: number, body: object, meanwhile = () => {}): void {
  vi.stubGlobal('fetch', async () => {
    meanwhile();
    return Response.json(body, { status });
  });
  onTestFinished(() => {
    vi.unstubAllGlobals();
    sessionState.set({ kind: 'unknown' });
  });
}

it('keeps a session that began after the request that is rejected', async () => {
  sessionState.enter('root');
  respondWith(401, { code: 401, message: 'sign in' }, () => sessionState.enter('root'));
  expect(await ask('GET', '/meta/orgs')).toMatchObject({ ok: false, failure: { kind: 'signed-out' } });
  expect(sessionState.value.kind).toBe('signed-in');
});

it('shows the reason when the server responds with an error to the first request, instead of waiting for it', async () => {
  respondWith(403, { code: 403, message: 'this origin is not allowed' });
  expect(await checkSession()).toBe('there');
  expect(sessionState.value).toEqual({ kind: 'signed-out', reason: 'this origin is not allowed' });
});

it('keeps the session while the server responds with errors', async () => {
  sessionState.enter('root');
  respondWith(500, { code: 500, message: 'internal error' });
  expect(await checkSession()).toBe('there');
  expect(sessionState.value).toEqual({ kind: 'signed-in', userId: 'root' });
});
