import { expect, it } from 'vitest';
import { JobEngine } from './job-engine.ts';

// Nothing listens on these ports of loopback.
const env = { DOCKER_HOST: 'tcp://127.0.0.1:1' };

it('looks for the engine of jobs at the address in the setting containers.engine, not in DOCKER_HOST', async () => {
  const found = await JobEngine.find(env, 'tcp://127.0.0.1:2');
  expect(found).toEqual({
    absence: expect.stringMatching(/responds at tcp:\/\/127\.0\.0\.1:2 .*set containers\.engine/),
  });
});

it('looks for the engine of jobs where the docker command does if the setting containers.engine is auto', async () => {
  const found = await JobEngine.find(env);
  expect(found).toEqual({ absence: expect.stringMatching(/responds at tcp:\/\/127\.0\.0\.1:1 .*set DOCKER_HOST/) });
});

it('looks for no engine of jobs if the setting containers.engine is none', async () => {
  const found = await JobEngine.find(env, 'none');
  expect(found).toEqual({ absence: expect.stringContaining('the setting containers.engine is none') });
});
